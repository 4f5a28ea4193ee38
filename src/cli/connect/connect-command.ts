import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { createApiKey } from '../../accounts/api-keys.ts'
import { loadClientSettings, loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import type { ModelId } from '../../core/model.ts'
import { messageOf } from '../../lib/message-of.ts'
import { requireModel } from '../models/require-model.ts'
import { openAccounts } from '../../service/joins/open-accounts.ts'
import { parseArguments } from '../parse-arguments.ts'
import { readStatus } from '../../service/status/status-file.ts'
import { UsageError } from '../usage-error.ts'
import type { SupportedClient } from './clients/client.ts'
import type { Connection, Format, OfferedModel } from './connection.ts'
import { describeSetup } from './describe-setup.ts'
import { findClient, listClients } from './find-client.ts'
import { modelsOfService, withSizesAt } from './offered-models.ts'
import { proveConnection } from './prove-connection.ts'
import { resolveAddress } from './resolve-address.ts'
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
  const status = values['base-url'] === undefined ? readStatus(config.home) : null
  const address = resolveAddress(values['base-url'], config, status)
  const key = values.key ?? (values['new-key'] === undefined ? settings.key : null)
  const local = modelsOfService(config, status)
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
  const { apiKeys, home, db } = await openAccounts(config)
  try {
    const created = await createApiKey(apiKeys, { kind: 'operator' }, { name, ...home })
    console.log(`${created.key}\n\nThis key (${created.id}) is shown only now.\n`)
    return { ...connection, key: created.key }
  } finally {
    await db.destroy()
  }
}
