import { spawn, type ChildProcess } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { compileCache, memorySettings, nodeArguments, productProgram } from './as-launched.ts'
import { modelIds } from '../../src/core/model.ts'
import { messageOf } from '../../src/lib/message-of.ts'
import { placeholderPath } from './engines/placeholder-path.ts'

export type Service = {
  /** Without `/v1`. */
  readonly address: string
  readonly key: string
  readonly home: string
  readonly pid: number
  /** The process id of the engine child, as the service says it. */
  enginePid(): Promise<number>
  /** Everything written to the ledger so far, oldest first. */
  ledger(): LedgerRow[]
  /** What the service printed: the banner, and its log lines. */
  output(): { readonly stdout: string; readonly stderr: string }
  /** Sends a signal (SIGTERM by default) and waits. Returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
  /** Starts it again on the same data folder, after a stop; with another program than before where one is named. */
  restart(program?: string): Promise<Service>
}

export type LedgerRow = {
  readonly request_id: string
  readonly end_user: string | null
  readonly tags: string | null
  readonly model: string
  readonly outcome: 'finished' | 'aborted' | 'failed'
  readonly reason: string | null
  readonly input_uncached: number
  readonly input_cache_read: number
  readonly input_cache_write: number
  readonly output: number
  readonly output_thinking: number
}

export type ServiceOptions = {
  /** What answers where the config file names nothing; the placeholder by default, which is fast and says the same every time. */
  readonly weights?: 'placeholder' | 'built-in'
  /** The config file's content. */
  readonly config?: Record<string, unknown>
  readonly environment?: Record<string, string>
  /** The program of another version of the product. */
  readonly program?: string
  /** Whose secret it has, so that it knows the keys of a database that several services share. */
  readonly joins?: Pick<Service, 'home' | 'key'>
}

/** A start takes a second or two; on a machine that does much else it takes far longer. */
const startMsMax = 120_000

const allPlaceholder = Object.fromEntries(modelIds.map((id) => [id, { weights: placeholderPath }]))

/** Starts a real service, engine and all, on a data folder and a port of its own. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-test-'))
  // What the service asks its models by itself would stand between the requests that a test counts.
  // Earlier versions do not know the setting.
  const quiet = options.program === undefined ? { availability: { canary: 'off' } } : {}
  const config = { ...quiet, ...options.config }
  writeFileSync(join(home, 'odyssey.json'), JSON.stringify(config))
  if (options.weights !== 'built-in') writeFileSync(join(home, 'models.json'), JSON.stringify(allPlaceholder))
  if (options.joins !== undefined) copyFileSync(join(options.joins.home, 'secret.key'), join(home, 'secret.key'))
  process.once('exit', () => rmSync(home, { recursive: true, force: true }))
  const first = await launch(home, options)
  const key = options.joins?.key ?? takeFirstKey(home, first.output().stdout)
  return withRestart(first, key, options)
}

/** Moves it away, as the banner asks for. */
function takeFirstKey(home: string, banner: string): string {
  const path = join(home, 'first-api-key')
  if (!existsSync(path)) throw new Error(`The first start left no key:\n${banner}`)
  const key = readFileSync(path, 'utf8').trim()
  rmSync(path)
  return key
}

function withRestart(launched: Launched, key: string, options: ServiceOptions): Service {
  return {
    ...launched,
    key,
    async restart(program = options.program ?? productProgram) {
      const changed = { ...options, program }
      return withRestart(await launch(launched.home, changed), key, changed)
    },
  }
}

/** Resolves with the address of a service that answers. */
async function untilReady(child: ChildProcess, output: ReturnType<Service['output']>): Promise<string> {
  const address = await until(() => bannerAddress(child, output), 'The service did not start.', startMsMax)
  await until(async () => (await fetch(`${address}/readyz`)).ok, 'The service did not become ready.', startMsMax)
  return address
}

type Launched = Omit<Service, 'key' | 'restart'>

async function launch(home: string, { environment, program = productProgram }: ServiceOptions): Promise<Launched> {
  const child = spawn(process.execPath, [...nodeArguments(), program, 'serve'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      ...memorySettings,
      ...compileCache,
      ODYSSEY_HOME: home,
      PORT: '0',
      // A test that is killed can stop nothing; the service sees that it is gone.
      ODYSSEY_LAUNCHER_PID: String(process.pid),
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  void exited.then(() => process.off('exit', kill))
  const address = await untilReady(child, output).catch((error: unknown) => {
    // Left alive it would keep the test's process waiting for ever.
    kill()
    const logged = output.stderr.split('\n').filter((line) => !line.includes('"path":"/readyz"'))
    throw new Error(`${messageOf(error)}\n${output.stdout}\n${logged.slice(-40).join('\n')}`, { cause: error })
  })
  return {
    address,
    home,
    pid: child.pid ?? -1,
    enginePid: () => until(() => enginePidOf(home), 'The engine has no child.'),
    ledger: () => readLedger(home),
    output: () => output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal)
      return exited
    },
  }
}

/** The banner comes once the weights are loaded; the key is made before. */
function bannerAddress(child: ChildProcess, output: { stdout: string; stderr: string }): string | null {
  if (child.exitCode !== null) throw new Error(`The service ended with ${child.exitCode}:\n${output.stderr}`)
  return /listening at (\S+)[^]*window/.exec(output.stdout)?.[1] ?? null
}

async function enginePidOf(home: string): Promise<number | null> {
  // Most tests start services and never ask for it, and it brings the schemas of what a service answers.
  const { runningServiceOf } = await import('./running-service-of.ts')
  const [first] = await runningServiceOf(home).readWeights()
  return first?.enginePid ?? null
}

export function readLedger(home: string): LedgerRow[] {
  const db = new DatabaseSync(join(home, 'odyssey.db'), { readOnly: true })
  try {
    return db.prepare('SELECT * FROM ledger ORDER BY at, rowid').all() as LedgerRow[]
  } finally {
    db.close()
  }
}

/** Asks again and again until there is an answer; null and false are none. */
export async function until<Answer>(
  ask: () => Answer | Promise<Answer>,
  failure: string,
  waitMs = 30_000,
): Promise<NonNullable<Answer>> {
  const deadline = performance.now() + waitMs
  for (;;) {
    const answer = await ask()
    if (answer !== null && answer !== undefined && answer !== false) return answer
    if (performance.now() > deadline) throw new Error(failure)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
