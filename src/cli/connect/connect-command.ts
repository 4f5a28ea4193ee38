import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { z } from 'zod'
import { createApiKey } from '../../accounts/api-keys.ts'
import { loadClientSettings, loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import { type ModelId, modelIdsByStrength } from '../../core/model.ts'
import { messageOf } from '../../lib/message-of.ts'
import { requireModel } from '../models/require-model.ts'
import { openExistingInstallation } from '../../service/joins/open-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { findRunningService } from '../running-service.ts'
import { UsageError } from '../usage-error.ts'
import { allClients } from '../../clients/all-clients.ts'
import { isSupported, type SupportedClient } from '../../clients/client.ts'
import type { Connection, Format, OfferedModel } from '../../clients/connection.ts'
import { describeSetup } from '../../clients/describe-setup.ts'
import { proveConnection } from './prove-connection.ts'
import { planSettings, writeSettings } from './write-settings.ts'
import { describeServedModel } from '../../models/served-models.ts'
import type { LoadedWeights } from '../../http/api/engine-schemas.ts'

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
  const [name] = positionals
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
  const read = parseArguments({ args, options, words: 1 })
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
  const { accounts, home, db } = await openExistingInstallation(config)
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

/** The models as this machine's service offers them with these weights, or without any when it does not run; the strongest first. */
export function modelsOfService(config: Config, weights: readonly LoadedWeights[]): OfferedModel[] {
  return modelIdsByStrength.map((id) => {
    const model = describeServedModel(id, config.models[id])
    const loaded = weights.find((entry) => entry.model === id)
    // The small window of what comes with Odyssey would stay in the settings when other weights have taken its place.
    return loaded === undefined || loaded.isBuiltIn ? model : withWindow(model, loaded.windowTokens)
  })
}

const listSchema = z.object({
  data: z.array(z.object({ id: z.string(), context_length: z.number(), max_tokens: z.number() })),
})

/** Long enough for an address on the other side of the world. */
const listMsMax = 10_000

/** The same models with the sizes that the service at an address tells; as they were where it tells none. */
export async function withSizesAt(models: OfferedModel[], address: string, key: string): Promise<OfferedModel[]> {
  try {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`${address}/v1/models`, { headers, signal: AbortSignal.timeout(listMsMax) })
    const { data } = listSchema.parse(await response.json())
    return models.map((model) => {
      const told = data.find(({ id }) => id === model.id)
      if (told === undefined) return model
      return { ...model, windowTokens: told.context_length, outputTokensMax: told.max_tokens }
    })
  } catch {
    // Whatever is wrong with the address or the key, the proof says it better.
    return models
  }
}

function withWindow(model: OfferedModel, windowTokens: number): OfferedModel {
  return { ...model, windowTokens, outputTokensMax: Math.min(model.outputTokensMax, windowTokens) }
}

/** The address that clients are given: the one named, that of the running service, or that of the next one. */
export function resolveAddress(given: string | undefined, config: Config, running: string | null): string {
  if (given !== undefined) return readAddress(given)
  if (running !== null) return reachable(new URL(running))
  if (config.port === 0) {
    throw new UsageError('The service does not run, and its port is chosen when it starts. Name it with --base-url.')
  }
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  return reachable(new URL(`http://${host}:${config.port}`))
}

/** Takes an address with `/v1` as well: each client gets it in its own form anyway. */
function readAddress(text: string): string {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new UsageError(`--base-url takes an address like http://127.0.0.1:8080, and not ${text}.`)
  }
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError('--base-url takes an address without a user name, a query or a fragment.')
  }
  // The address goes into code and commands, between quotation marks of several kinds.
  if (!/^[\w./~%-]*$/.test(url.pathname)) throw new UsageError('--base-url has a path that no client would take.')
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '')
}

/** A service that listens on every address of its machine is reached by none of these names. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '[::]': 'localhost' }

function reachable(url: URL): string {
  url.hostname = everywhere[url.hostname] ?? url.hostname
  return url.origin
}
