import { readConfigFile } from './read-config-file.ts'
import { configFileSchema, type Config } from './schema.ts'

export type DescribedSetting = {
  /** Its place in the config file, with dots. */
  readonly name: string
  /** As JSON; secrets are only said to be set. */
  readonly value: string
  readonly from: 'file' | 'environment' | 'command' | 'default'
}

type Environment = Readonly<Record<string, string | undefined>>

/** What the environment says of settings, and what of that is nobody's to read. */
const variables: Readonly<Record<string, string>> = {
  host: 'HOST',
  port: 'PORT',
  logLevel: 'ODYSSEY_LOG_LEVEL',
  'dashboard.enabled': 'ODYSSEY_DASHBOARD',
}
const secrets: readonly (readonly [string, string])[] = [
  ['DATABASE_URL', 'DATABASE_URL'],
  ['HF_TOKEN', 'HF_TOKEN'],
]

/** Every setting as the service runs with it, and where each comes from. */
export function describeSettings(config: Config, environment: Environment): DescribedSetting[] {
  const written = leavesOf(readWritten(config))
  const inForce = configFileSchema.parse(Object.fromEntries(fields.map((field) => [field, config[field]])))
  const settings = Object.entries(leavesOf(inForce)).map(([name, value]): DescribedSetting => {
    return { name, value: JSON.stringify(value), from: originOf(name, { config, environment, written }) }
  })
  const hidden = secrets.map(([name, variable]): DescribedSetting => {
    const isSet = (environment[variable] ?? '') !== ''
    return { name, value: isSet ? 'set' : 'not set', from: isSet ? 'environment' : 'default' }
  })
  return [...settings, ...hidden]
}

const fields = Object.keys(configFileSchema.shape) as (keyof typeof configFileSchema.shape)[]

/** A file that was damaged since the start is told at the next one. */
function readWritten({ configPath }: Config): unknown {
  try {
    return readConfigFile(configPath, false)
  } catch {
    return {}
  }
}

type Known = {
  readonly config: Config
  readonly environment: Environment
  readonly written: Readonly<Record<string, unknown>>
}

function originOf(name: string, { config, environment, written }: Known): DescribedSetting['from'] {
  const variable = variables[name]
  if (variable !== undefined && (environment[variable] ?? '') !== '') return 'environment'
  if (Object.hasOwn(written, name)) return 'file'
  const model = /^models\.(.+)\.weights$/.exec(name)?.[1]
  const choices: Readonly<Record<string, string>> = config.weightsChoices
  return model !== undefined && choices[model] === 'command' ? 'command' : 'default'
}

/** By dotted names. Lists are values; names of models have dots of their own, and are told apart by nobody but people. */
function leavesOf(value: unknown, path: readonly string[] = []): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { [path.join('.')]: value }
  const entries = Object.entries(value)
  return Object.assign({}, ...entries.map(([key, below]) => leavesOf(below, [...path, key]))) as Record<string, unknown>
}
