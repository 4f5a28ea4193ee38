import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { createApiKey } from '../../accounts/api-keys.ts'
import { loadClientSettings, loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import type { ModelId } from '../../core/model.ts'
import { messageOf } from '../../lib/message-of.ts'
import { requireModel } from '../models/require-model.ts'
import { openInstallation } from '../../service/joins/open-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { findRunningService } from '../running-service.ts'
import { UsageError } from '../usage-error.ts'
import { allClients } from '../../clients/all-clients.ts'
import { type SupportedClient, isSupported } from '../../clients/client.ts'
import type { Connection, Format, OfferedModel } from '../../clients/connection.ts'
import { describeSetup } from '../../clients/describe-setup.ts'
import { modelsOfService, withSizesAt, resolveAddress } from './local-service.ts'
import { proveConnection } from './prove-connection.ts'
import { planSettings, writeSettings } from './write-settings.ts'

const options = {
  'base-url': { type: 'string' },
  key: { type: 'string' },
  'new-key': { type: 'string' },
  model: { type: 'string', default: 'clarke-1.0' },
  format: { type: 'string' },
  write: { type: 'boolean', default: false },
  'no-check': { type: 'boolean', default: false },
  home: { type: 'string' },
} as const

type Options = ReturnType<typeof readArguments>['values']

/** `odyssey connect`: a client's settings, printed or written, and proved with one call. */
export async function connectCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [name, ...others] = positionals
  if (others.length > 0) throw new UsageError('connect takes one client.')
  if (name === undefined) {
    console.log(listClients())
    return
  }
  const client = findClient(name)
  const config = loadConfig()
  const connection = await connectionOf(client, config, values)
  // Before a key is made: a file that cannot be written should leave nothing behind.
  if (values.write) planSettings(client, connection)
  await connect(client, await withNewKey(connection, config, values['new-key']), values)
}

function readArguments(args: string[]) {
  const read = parseArguments({ args, options, allowPositionals: true })
  if (read.values.key !== undefined && read.values['new-key'] !== undefined) {
    throw new UsageError('connect takes --key or --new-key, and not both.')
  }
  // What is left of a variable that was not set, or a key that a terminal has broken in two.
  if (read.values.key !== undefined && !/^[\x21-\x7e]+$/.test(read.values.key)) {
    throw new UsageError('--key takes a key, without spaces.')
  }
  return read
}

async function connect(client: SupportedClient, connection: Connection, values: Options): Promise<void> {
  const { key, model } = connection
  if (!values.write) console.log(describeSetup(client, client.setUp(connection), connection))
  else if (key === null) {
    throw new UsageError('connect --write needs a key: --key KEY, --new-key NAME, or ODYSSEY_KEY in the environment.')
  }
  if (values['no-check']) console.log('Not checked.')
  else if (key === null) console.log('Not checked: there is no key yet.')
  else {
    try {
      console.log(`Checked: ${await proveConnection(client.setUp(connection).reach, { key, model: model.id })}`)
    } catch (error) {
      const reason = messageOf(error)
      const end = values.write ? '\nNothing was written; --no-check writes all the same.' : ''
      throw new Error(`The check failed. ${reason}${end}`, { cause: error })
    }
  }
  if (values.write) console.log(`\n${writeSettings(client, connection)}`)
}

async function connectionOf(client: SupportedClient, config: Config, values: Options): Promise<Connection> {
  const settings = loadClientSettings()
  const service = values['base-url'] === undefined ? await findRunningService(config.home) : null
  const address = resolveAddress(values['base-url'], config, service?.address ?? null)
  const key = values.key ?? (values['new-key'] === undefined ? settings.key : null)
  const local = modelsOfService(config, (await service?.readWeights()) ?? [])
  const isElsewhere = values['base-url'] !== undefined && key !== null && !values['no-check']
  const models = isElsewhere ? await withSizesAt(local, address, key) : local
  const model = pick(models, requireModel(values.model))
  return {
    address,
    key,
    format: formatOf(client, values.format),
    model,
    smallModel: pick(models, 'tycho-1.0'),
    models: [model, ...models.filter((other) => other !== model)],
    // Somebody else's home is not moved by this shell's variables.
    folders:
      values.home === undefined
        ? { home: homedir(), variables: settings.folderVariables }
        : { home: resolve(values.home), variables: {} },
  }
}

function pick(models: readonly OfferedModel[], id: ModelId): OfferedModel {
  const model = models.find((offered) => offered.id === id)
  if (model === undefined) throw new Error(`${id} is not offered.`)
  return model
}

function formatOf({ name, formats }: SupportedClient, wanted: string | undefined): Format {
  const format = wanted === undefined ? formats[0] : formats.find((known) => known === wanted)
  if (format === undefined) throw new UsageError(`${name} takes --format ${formats.join(' or ')}.`)
  return format
}

async function withNewKey(connection: Connection, config: Config, name: string | undefined): Promise<Connection> {
  if (name === undefined) return connection
  if (name.trim() === '') throw new UsageError('--new-key takes a name for the key.')
  const { accounts, home, db } = await openInstallation(config)
  try {
    const created = await createApiKey(accounts, { kind: 'operator' }, { name, ...home })
    console.log(`${created.key}\n\nThis key (${created.id}) is shown only now.\n`)
    return { ...connection, key: created.key }
  } finally {
    await db.destroy()
  }
}

export function findClient(name: string): SupportedClient {
  const client = allClients.find((known) => known.name === name)
  if (client === undefined) {
    throw new UsageError(`There is no client ${name}; there are ${allClients.map((known) => known.name).join(', ')}.`)
  }
  if (!isSupported(client)) throw new Error(client.reason)
  return client
}

/** The clients, with the formats that each can be set to. */
export function listClients(): string {
  const lines = allClients.map((client) => {
    const formats = isSupported(client) ? client.formats.join(', ') : 'cannot be connected'
    return `  ${client.name.padEnd(20)} ${client.title.padEnd(28)} ${formats}`
  })
  return ['Clients, and the formats that they can use:', '', ...lines, '', help].join('\n')
}

const help = `odyssey connect CLIENT            prints the settings and tries them with one call
  --key KEY                       the key to use; else ODYSSEY_KEY, else a placeholder
  --new-key NAME                  makes a key by this name and uses it
  --write                         puts the settings into the client's own file
  --model MODEL                   hal-1.0, clarke-1.0 (unless said otherwise) or tycho-1.0
  --format chat|messages          for clients that can use either
  --base-url ADDRESS              of a service on another machine or behind a proxy
  --no-check                      makes no call
  --home FOLDER                   where the client's files lie, in place of the own home folder`
