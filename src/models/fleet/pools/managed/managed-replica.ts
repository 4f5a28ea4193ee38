// A replica that the gateway starts itself.
//
//     starting → proving → up ──(ends)──→ a pause of 1 s up to a minute → starting
//
// A roll starts the next one beside it, proves that, and only then lets the last one finish what it has and ends it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { pause, type Clock } from '../../../../lib/clock.ts'
import { messageOf } from '../../../../lib/message-of.ts'
import type { Log } from '../../../../telemetry/log.ts'
import type { PoolReplica, ReplicaSettings } from '../pool-replica.ts'

/** A replica as the config file has it, without the address that it is found at. */
export type ManagedSettings = Omit<ReplicaSettings, 'url'> & { readonly command: readonly string[] }

export type ManagedReplicaOptions = {
  readonly settings: ManagedSettings
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly log: Log
  /** Takes in a replica, which is proved and then given requests. */
  join(settings: ReplicaSettings): PoolReplica
  /** Gives a replica nothing more. Resolves when it has finished what it has. */
  leave(replica: PoolReplica): Promise<void>
}

type Run = {
  readonly process: ManagedProcess
  readonly replica: PoolReplica
  readonly startedMs: number
  isWanted: boolean
  /** How its process ended; null while it runs. */
  ending: string | null
}

const restartMsLeast = 1_000
const restartMsMost = 60_000
/** After so long one that ends is started again at once. */
const soundMs = 60_000
const lookMs = 100

export class ManagedReplica {
  readonly #options: ManagedReplicaOptions
  #command: readonly string[]
  #run: Run | null = null
  #port: number | null = null
  #failures = 0
  #restarts = 0
  #isClosed = false
  #cancelRestart = () => {}

  constructor(options: ManagedReplicaOptions) {
    this.#options = options
    this.#command = options.settings.command
  }

  /** How often it had to be started again. */
  get restarts(): number {
    return this.#restarts
  }

  has(replica: PoolReplica): boolean {
    return this.#run?.replica === replica
  }

  async start(): Promise<void> {
    this.#port ??= await findFreePort()
    if (!this.#isClosed) this.#run = this.#begin(this.#command, this.#port)
  }

  /** Replaces it by one that is started with another command, or with the same. Throws where that one cannot be a replica; this one stays then. */
  async roll(command: readonly string[] = this.#command): Promise<void> {
    const port = await findFreePort()
    if (this.#isClosed) return
    const next = this.#begin(command, port)
    try {
      await this.#whenUp(next)
    } catch (error) {
      await this.#end(next)
      throw error
    }
    const last = this.#run
    this.#run = next
    this.#command = command
    this.#port = port
    this.#failures = 0
    this.#cancelRestart()
    if (last !== null) await this.#end(last)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRestart()
    const run = this.#run
    this.#run = null
    if (run === null) return
    run.isWanted = false
    await run.process.stop()
  }

  #begin(command: readonly string[], port: number): Run {
    const { settings, folder, environment, clock, log, join } = this.#options
    const { command: _, ...rest } = settings
    const url = `http://127.0.0.1:${port}`
    const process = new ManagedProcess({
      command,
      port,
      folder,
      environment,
      clock,
      log: log.child({ replica: url }),
    })
    const replica = join({ ...rest, url })
    const run: Run = { process, replica, startedMs: clock.monotonicMs(), isWanted: true, ending: null }
    void process.ended.then((how) => this.#ended(run, how))
    return run
  }

  #ended(run: Run, how: string): void {
    run.ending = how
    if (!run.isWanted) return
    const { clock } = this.#options
    run.replica.lost(`Its program ended ${how}.`)
    if (this.#run !== run) return
    const wasSound = clock.monotonicMs() - run.startedMs >= soundMs
    this.#failures = wasSound ? 0 : this.#failures + 1
    // One that never came up may have found its port taken.
    if (run.replica.remote.facts === null) this.#port = null
    const pauseMs = wasSound ? 0 : Math.min(restartMsMost, restartMsLeast * 2 ** (this.#failures - 1))
    this.#cancelRestart = clock.after(pauseMs, () => void this.#restart(run))
  }

  async #restart(run: Run): Promise<void> {
    const { leave, log } = this.#options
    this.#restarts += 1
    try {
      await leave(run.replica)
      if (this.#run === run) await this.start()
    } catch (error) {
      log.error({ reason: messageOf(error) }, 'a replica could not be started again')
    }
  }

  async #whenUp(run: Run): Promise<void> {
    const { health } = run.replica
    while (health.state !== 'up') {
      if (this.#isClosed) throw new Error('The service stops.')
      if (run.ending !== null) throw new Error(`The new one ended ${run.ending}.`)
      if (health.state === 'refused') throw new Error(health.reason ?? 'The new one was refused.')
      await pause(this.#options.clock, lookMs)
    }
  }

  async #end(run: Run): Promise<void> {
    run.isWanted = false
    await this.#options.leave(run.replica)
    await run.process.stop()
  }
}

type ManagedProcessOptions = {
  /** The program and its arguments, in which `{port}` stands for the port. No shell reads them. */
  readonly command: readonly string[]
  readonly port: number
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly clock: Clock
  readonly log: Log
}

/** Beyond this a line is cut, and further lines of a period are counted and not kept. */
const lineCharactersMax = 500
const linesMax = 100
const periodMs = 10_000

/** A program that was started to be a replica, under a guard that ends it with the gateway. */
class ManagedProcess {
  /** Resolves with how it ended. */
  readonly ended: Promise<string>
  readonly #stop: () => void

  constructor({ command, port, folder, environment, clock, log }: ManagedProcessOptions) {
    const args = command.map((argument) => argument.replaceAll('{port}', String(port)))
    const guard = fileURLToPath(new URL('./guard.ts', import.meta.url))
    const child = spawn(process.execPath, [guard, ...args], {
      cwd: folder,
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    // A guard that is gone reads nothing.
    child.stdin.on('error', () => {})
    const keep = boundedLog(log, clock)
    for (const input of [child.stdout, child.stderr]) createInterface({ input }).on('line', keep)
    this.#stop = () => child.stdin.end()
    this.ended = new Promise((resolve) => {
      child.once('error', ({ message }) => resolve(`it could not be started: ${message}`))
      child.once('exit', (code, signal) => resolve(code === null ? `by ${signal}` : `with code ${code}`))
    })
  }

  /** Tells it to stop, and kills it where it does not. Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stop()
    await this.ended
  }
}

/** Notes the lines of a program, as many as a log can bear. */
function boundedLog(log: Log, clock: Clock): (line: string) => void {
  let periodBeganMs = -Infinity
  let lines = 0
  return (line) => {
    const nowMs = clock.monotonicMs()
    if (nowMs - periodBeganMs >= periodMs) {
      if (lines > linesMax) log.warn({ lines: lines - linesMax }, 'lines of a replica’s output were left out')
      periodBeganMs = nowMs
      lines = 0
    }
    lines += 1
    if (lines <= linesMax && line.trim() !== '') log.info({ line: line.slice(0, lineCharactersMax) }, 'replica output')
  }
}

/** A port of this machine that nobody listens on now. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
