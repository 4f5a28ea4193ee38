import { dirname, join, resolve } from 'node:path'
import { modelIds, type ModelId } from '../core/model.ts'
import { messageOf } from '../lib/message-of.ts'
import { ConfigError } from './config-error.ts'
import { describeSettings, type DescribedSetting } from './describe-settings.ts'
import { readMailSecrets, type MailSecrets } from './mail-schema.ts'
import { readConfigFile } from './read-config-file.ts'
import { configFileSchema, type Config, type ConfigFile, type WeightsChoice } from './schema.ts'
import { variablesOfSink } from './sink-schema.ts'
import { readWeightsMap, type WeightsMap } from './weights-map.ts'
import type { z } from 'zod'

/** Variables a child needs to find its libraries and its devices; no secret is among them. */
const childVariables = [
  'PATH',
  'HOME',
  'TMPDIR',
  'LANG',
  'LD_LIBRARY_PATH',
  'CUDA_VISIBLE_DEVICES',
  'CUDA_PATH',
  'GGML_VK_VISIBLE_DEVICES',
  'VK_DRIVER_FILES',
  'NODE_COMPILE_CACHE',
  'SystemRoot',
  'TEMP',
]

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the environment and the one config file.
 *
 * The environment wins over the file. The file is `odyssey.json` in the data
 * folder, or the one that `ODYSSEY_CONFIG` names, which then must exist.
 */
export function loadConfig(environment: Environment = process.env, workingFolder = process.cwd()): Config {
  const home = resolve(workingFolder, setting(environment, 'ODYSSEY_HOME') ?? 'data')
  const named = setting(environment, 'ODYSSEY_CONFIG')
  const path = named === undefined ? join(home, 'odyssey.json') : resolve(workingFolder, named)
  const written = readConfigFile(path, named !== undefined)
  const result = configFileSchema.safeParse(withModelDefaults({ ...written, ...fromEnvironment(environment) }))
  if (!result.success) {
    const { issues } = result.error
    throw new ConfigError(describeIssues(issues, (field) => placeOf(field, path, environment)))
  }
  const faults = [
    ...faultsOfPorts(result.data),
    ...faultsOfPools(result.data, environment),
    ...faultsOfSinks(result.data, environment),
  ]
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `${path}: ${fault}`))
  return Object.freeze({
    ...result.data,
    replicaKeys: readReplicaKeys(result.data, environment),
    sinkSecrets: pick(environment, sinkVariables(result.data)),
    mailSecrets: readMail(result.data, path, environment),
    ...chooseWeights(result.data.models, readChosen(home)),
    home,
    databaseUrl: readDatabaseUrl(environment),
    configPath: path,
    configFolder: dirname(path),
    childEnvironment: pick(environment, childVariables),
    launcherPid: readLauncherPid(environment),
  })
}

function keyVariables({ pools }: Pick<ConfigFile, 'pools'>): string[] {
  const keys = Object.values(pools).flatMap(({ replicas }) => replicas.flatMap(({ key }) => key ?? []))
  return [...new Set(keys.map((key) => key.slice('env:'.length)))]
}

/** What no single field shows to be wrong: models of pools that there are not, and keys that nobody has set. */
function faultsOfPools({ models, pools }: ConfigFile, environment: Environment): string[] {
  const ofModels = Object.entries(models).flatMap(([id, { pool, weights }]) => {
    if (pool !== null && weights !== null) return [`models.${id}: must have weights or a pool, not both.`]
    const isMissing = pool !== null && !Object.hasOwn(pools, pool)
    return isMissing ? [`models.${id}.pool: there is no pool ${pool} in pools.`] : []
  })
  const missing = keyVariables({ pools }).filter((name) => setting(environment, name) === undefined)
  return [...ofModels, ...missing.map((name) => `pools: the variable ${name} with the key of a replica is not set.`)]
}

const everywhere = ['0.0.0.0', '::', '[::]']

/** The port of the metrics is opened first: what clients ask for would be told to be taken by another program. */
function faultsOfPorts({ host, port, metrics }: ConfigFile): string[] {
  if (metrics.port === null || metrics.port === 0 || metrics.port !== port) return []
  const hosts = [host, metrics.host].map((one) => (one === 'localhost' ? '127.0.0.1' : one))
  const isShared = hosts[0] === hosts[1] || hosts.some((one) => everywhere.includes(one))
  return isShared ? [`metrics.port: must be another one than PORT, which is ${port} too.`] : []
}

function sinkVariables({ audit }: Pick<ConfigFile, 'audit'>): string[] {
  return [...new Set(audit.sinks.flatMap(variablesOfSink))]
}

function faultsOfSinks(file: ConfigFile, environment: Environment): string[] {
  const missing = sinkVariables(file).filter((name) => setting(environment, name) === undefined)
  return missing.map((name) => `audit.sinks: the variable ${name} is not set.`)
}

function readReplicaKeys(file: ConfigFile, environment: Environment): Record<string, string> {
  return pick(environment, keyVariables(file))
}

function readMail({ alerts: { mail } }: ConfigFile, path: string, environment: Environment): MailSecrets | null {
  if (mail === null) return null
  try {
    return readMailSecrets(mail, { variable: (name) => setting(environment, name), folder: dirname(path) })
  } catch (error) {
    throw new ConfigError([`${path}: ${messageOf(error)}`])
  }
}

/** Only from the environment, since it holds a password; for the same reason a fault does not repeat it. */
function readDatabaseUrl(environment: Environment): string | null {
  const url = setting(environment, 'DATABASE_URL')
  if (url === undefined) return null
  if (/^postgres(ql)?:\/\//.test(url) && URL.canParse(url)) return url
  throw new ConfigError(['DATABASE_URL must be an address of the form postgresql://user:password@host/database.'])
}

function readChosen(home: string): WeightsMap {
  try {
    return readWeightsMap(home)
  } catch (error) {
    const reason = messageOf(error)
    throw new ConfigError([`${join(home, 'models.json')} is damaged; "odyssey models use" writes it. ${reason}`])
  }
}

/** Weights that the config file names win: what is written there by hand is not overruled behind anyone's back. */
function chooseWeights(models: ConfigFile['models'], chosen: WeightsMap) {
  const weightsChoices = {} as Record<ModelId, WeightsChoice>
  const completed = { ...models }
  for (const id of modelIds) {
    // A pool is named in the config file alone, and what is written there wins.
    const weights = models[id].pool === null ? (models[id].weights ?? chosen[id]?.weights ?? null) : null
    completed[id] = { ...models[id], weights }
    const isFixed = models[id].weights !== null || models[id].pool !== null
    weightsChoices[id] = isFixed ? 'config-file' : weights !== null ? 'command' : 'built-in'
  }
  return { models: completed, weightsChoices }
}

/** Put together once for each service: in a large file they are many, and whoever asks for them would hold up all others. */
const listed = new WeakMap<Config, readonly DescribedSetting[]>()

/** Every setting of a running service, and where each comes from, as the file was when this was first asked: at its start. */
export function listSettings(config: Config, environment: Environment = process.env): readonly DescribedSetting[] {
  const settings = listed.get(config) ?? describeSettings(config, environment)
  listed.set(config, settings)
  return settings
}

export type HubSettings = {
  /** Where `owner/repo/file` is looked for. */
  readonly address: string
  readonly token: string | null
}

/** Apart from `Config`, so that nothing but what fetches weights knows the token. */
export function loadHubSettings(environment: Environment = process.env): HubSettings {
  return {
    address: setting(environment, 'ODYSSEY_HUB') ?? setting(environment, 'HF_ENDPOINT') ?? 'https://huggingface.co',
    token: setting(environment, 'HF_TOKEN') ?? null,
  }
}

/** Where the files of the clients lie that are connected with this service. */
export type ClientFolders = {
  readonly home: string
  /** Variables that move them, by their names. */
  readonly variables: Readonly<Record<string, string>>
}

const folderVariables = [
  'APPDATA',
  'CLAUDE_CONFIG_DIR',
  'CLINE_DATA_DIR',
  'CLINE_DIR',
  'CONTINUE_GLOBAL_DIR',
  'QWEN_HOME',
  'XDG_CONFIG_HOME',
]

export type ClientSettings = {
  /** The key that clients are given where the command line names none. */
  readonly key: string | null
  readonly folderVariables: ClientFolders['variables']
}

/** What the environment says of clients; nothing to a running service. */
export function loadClientSettings(environment: Environment = process.env): ClientSettings {
  const found = folderVariables.map((name) => [name, setting(environment, name)] as const)
  return {
    key: setting(environment, 'ODYSSEY_KEY') ?? null,
    folderVariables: Object.fromEntries(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
  }
}

/** What the environment may say of the config file's fields. */
const variables: Readonly<Record<string, string>> = { host: 'HOST', port: 'PORT', logLevel: 'ODYSSEY_LOG_LEVEL' }

function fromEnvironment(environment: Environment): Record<string, unknown> {
  const found: Record<string, unknown> = {}
  const dashboard = setting(environment, 'ODYSSEY_DASHBOARD')
  if (dashboard !== undefined) found['dashboard'] = { enabled: isSwitchedOn('ODYSSEY_DASHBOARD', dashboard) }
  for (const [field, variable] of Object.entries(variables)) {
    const value = setting(environment, variable)
    // Text that is no number is left as it is: the schema then says what is wrong with it.
    if (value !== undefined) found[field] = field === 'port' && /^\d+$/.test(value) ? Number(value) : value
  }
  return found
}

/** As people write it in compose files and units. */
function isSwitchedOn(name: string, value: string): boolean {
  if (/^(?:on|true|yes|1)$/i.test(value)) return true
  if (/^(?:off|false|no|0)$/i.test(value)) return false
  throw new ConfigError([`${name}=${value.slice(0, 100)}: must be on or off.`])
}

/** A model's entry may name its weights alone; whether it thinks then stays the model's own default. */
function withModelDefaults(written: Record<string, unknown>): Record<string, unknown> {
  const { models } = written
  if (typeof models !== 'object' || models === null) return written
  const completed = Object.entries(models).map(([id, entry]: [string, unknown]) => {
    const thinking = id === 'hal-1.0' ? 'on' : 'off'
    return [id, typeof entry === 'object' && entry !== null ? { thinking, ...entry } : entry]
  })
  return { ...written, models: Object.fromEntries(completed) as unknown }
}

/** How a field is named to whoever set it: by its variable, or its place in the file. */
function placeOf(field: string, path: string, environment: Environment): string {
  const variable = Object.hasOwn(variables, field) ? variables[field] : undefined
  const value = variable === undefined ? undefined : setting(environment, variable)
  if (variable !== undefined && value !== undefined) return `${variable}=${value.slice(0, 100)}`
  return field === '' ? path : `${path}: ${field}`
}

/** A variable that a command was told the name of; null where it is not set. */
export function readVariable(name: string, environment: Environment = process.env): string | null {
  return setting(environment, name) ?? null
}

/** An empty variable counts as unset, as in most programs that are configured from compose files. */
function setting(environment: Environment, name: string): string | undefined {
  const value = environment[name]
  return value === '' ? undefined : value
}

/** A program that was started by a child of the launcher has the variable too, and another parent. */
function readLauncherPid(environment: Environment): number | null {
  const pid = Number(setting(environment, 'ODYSSEY_LAUNCHER_PID'))
  return pid === process.ppid ? pid : null
}

function pick(environment: Environment, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = environment[name]
    if (value !== undefined) picked[name] = value
  }
  return picked
}

type Issue = z.core.$ZodIssue

/** The faults of a config file's fields, each told once, in words for whoever wrote it. `nameOf` says where a field was set. */
function describeIssues(issues: readonly Issue[], nameOf: (field: string) => string): string[] {
  const told = new Map<string, string>()
  for (const issue of issues.flatMap(inForm)) {
    const field = issue.path.map(String).join('.')
    // A number that is much too large is told as being too large alone.
    if (!told.has(field)) told.set(field, `${nameOf(field)}: ${describeIssue(issue)}.`)
  }
  return [...told.values()]
}

/** Where a value may have one of several forms, what is wrong with the one that was meant: it goes wrong further inside. */
function inForm(issue: Issue): Issue[] {
  const forms = issue.code === 'invalid_union' ? issue.errors : []
  const meant = forms.find((faults) => faults.every(({ path }) => path.length > 0))
  return meant?.map((fault) => ({ ...fault, path: [...issue.path, ...fault.path] })) ?? [issue]
}

const kinds: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'text in quotes',
  boolean: 'true or false',
  object: 'an object in braces',
  record: 'an object in braces',
  array: 'a list in brackets',
}

function describeIssue(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return isOwn(issue) ? issue.message : `must be ${kinds[issue.expected] ?? issue.expected}`
    case 'unrecognized_keys':
      return `there is no setting ${issue.keys.map((key) => key.slice(0, 100)).join(', ')}`
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}`
    case 'too_small':
      if (isOwn(issue)) return issue.message
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`
    case 'too_big':
      return isOwn(issue) ? issue.message : `must be at most ${issue.maximum}`
    default:
      return issue.message.replace(/\.$/, '')
  }
}

/** The schema's own words are better than any made from the kind of fault; the library's begin like this. */
function isOwn({ message }: Issue): boolean {
  return !/^(?:Invalid|Too (?:big|small))/.test(message)
}
