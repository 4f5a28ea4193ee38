import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { z } from 'zod'
import { configFileSchema, type Config } from './schema.ts'

/** A configuration that cannot be used, with one readable line per fault. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'

  constructor(faults: readonly string[]) {
    super(faults.join('\n'))
  }
}

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
  if (!result.success) throw new ConfigError(result.error.issues.map((issue) => describeIssue(path, issue)))
  return Object.freeze({
    ...result.data,
    home,
    configFolder: dirname(path),
    childEnvironment: pick(environment, childVariables),
  })
}

function readConfigFile(path: string, mustExist: boolean): Record<string, unknown> {
  if (!existsSync(path)) {
    if (mustExist) throw new ConfigError([`There is no config file at ${path}.`])
    return {}
  }
  try {
    const written: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof written === 'object' && written !== null && !Array.isArray(written)) return { ...written }
  } catch (error) {
    throw new ConfigError([`${path} is not valid JSON: ${error instanceof Error ? error.message : String(error)}`])
  }
  throw new ConfigError([`${path} must hold a JSON object.`])
}

function fromEnvironment(environment: Environment): Record<string, unknown> {
  const host = setting(environment, 'HOST')
  const port = setting(environment, 'PORT')
  const logLevel = setting(environment, 'ODYSSEY_LOG_LEVEL')
  return {
    ...(host !== undefined && { host }),
    // Text that is no number is left as it is: the schema then says what is wrong with it.
    ...(port !== undefined && { port: /^\d+$/.test(port) ? Number(port) : port }),
    ...(logLevel !== undefined && { logLevel }),
  }
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

function describeIssue(path: string, issue: z.core.$ZodIssue): string {
  const field = issue.path.map(String).join('.')
  return `${path}: ${field === '' ? '' : `${field}: `}${issue.message}`
}

/** An empty variable counts as unset, as in most programs that are configured from compose files. */
function setting(environment: Environment, name: string): string | undefined {
  const value = environment[name]
  return value === '' ? undefined : value
}

function pick(environment: Environment, names: readonly string[]): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = environment[name]
    if (value !== undefined) picked[name] = value
  }
  return picked
}
