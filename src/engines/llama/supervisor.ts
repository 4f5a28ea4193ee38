// Keeps one child process alive: the engine of a file of weights, or its text child. A native
// crash, an out-of-memory kill or a stalled decode then costs the requests of that child and
// nothing else, and unloading gives the memory back, which freeing inside the process does not.
//
//     loading → ready ──────────→ stopped
//        └────────┴──→ (crash) → loading, or down after too many, and again after a growing pause

import { fork, type ChildProcess } from 'node:child_process'
import { setPriority } from 'node:os'
import type { Clock } from '../../lib/clock.ts'
import type { LoadSettings } from './ipc.ts'

/** What each kind of child says of itself; everything else is between it and its owner. */
type Common =
  | { readonly kind: 'ready' }
  | { readonly kind: 'load-failed'; readonly message: string }
  | { readonly kind: 'pong'; readonly steps: number; readonly isBusy: boolean }

type Message = { readonly kind: string }

/** What each kind of child is told. */
type Told =
  | Message
  | { readonly kind: 'resize-cache'; readonly bytesMax: number }
  | { readonly kind: 'load'; readonly settings: LoadSettings }

export type SupervisorOptions<From extends Message> = {
  /** The child's program. */
  readonly entry: URL
  /** Whether the child may save before it ends. */
  readonly savesAtStop: boolean
  /** A child that leaves the processor to whoever else wants it. */
  readonly yieldsProcessor?: boolean
  readonly settings: LoadSettings
  /** What the child may know of the service's environment: no secret is in it. */
  readonly environment: Readonly<Record<string, string>>
  readonly clock: Clock
  /** A child that says anything else is ended. */
  isMessage(message: unknown): message is From
  onReady(ready: Extract<From, { readonly kind: 'ready' }>): void
  onMessage(message: From): void
  /** The child is gone; whatever it was doing is lost. */
  onExit(reason: string): void
  /** A line the child wrote to its standard output or error. */
  onOutput(line: string): void
}

/** A child that does not answer for this long hangs. */
const silenceMsMax = 10_000
/** Before its first word a child has to be started, which takes long on a machine where everything starts at once. */
const launchMsMax = 60_000
/** Making text into tokens keeps a child from answering; the slowest text measured took 0.44 µs a character. */
const msPerCharacter = 0.001
/** A busy child that finishes no step for this long hangs in native code; a step of a large model on few cores takes a while. */
const stepMsMax = 120_000
const pingIntervalMs = 1_000
/** After more crashes than this within a minute the child counts as down until it loads again. */
const crashesPerMinuteMax = 5
const restartPauseMsMax = 60_000

/** Where processors are short, such a child gets a third of what another process gets, and is still never starved. */
const yieldingPriority = 5

/** How long a child that is told to stop may go on saving. */
const savingMsMax = 20_000

export class Supervisor<To extends Told, From extends Message> {
  readonly #options: SupervisorOptions<From>
  #child: ChildProcess | null = null
  #state: 'loading' | 'ready' | 'down' | 'stopped' = 'loading'
  #crashTimes: number[] = []
  /** Until then the child may be silent, because of the text it was given. */
  #patientUntilMs = 0
  /** False after weights could not be loaded: another try is made, but nobody need wait for it. */
  #canLoad = true
  #cancelRestart = () => {}
  #cacheBytesMax: number

  constructor(options: SupervisorOptions<From>) {
    this.#options = options
    this.#cacheBytesMax = options.settings.cacheBytesMax
    this.#launch()
  }

  get state() {
    return this.#state
  }

  get pid(): number | null {
    return this.#child?.pid ?? null
  }

  send(message: To): void {
    this.#tell(message)
  }

  /** Sends a message whose text the child will be busy with for a while. */
  sendText(message: To, characters: number): void {
    const from = Math.max(this.#patientUntilMs, this.#options.clock.monotonicMs())
    this.#patientUntilMs = from + characters * msPerCharacter
    this.send(message)
  }

  /** Tells this child, and each that comes after it. */
  resizeCache(bytesMax: number): void {
    this.#cacheBytesMax = bytesMax
    this.#tell({ kind: 'resize-cache', bytesMax })
  }

  /** Ends the child at once; it is restarted like after any crash. */
  kill(): void {
    this.#child?.kill('SIGKILL')
  }

  async stop(): Promise<void> {
    this.#state = 'stopped'
    this.#cancelRestart()
    const child = this.#child
    if (child === null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    if (this.#options.savesAtStop) {
      this.#tell({ kind: 'stop' })
      const cancel = this.#options.clock.after(savingMsMax, () => child.kill('SIGKILL'))
      await exited
      return cancel()
    }
    child.kill('SIGKILL')
    await exited
  }

  #launch(): void {
    const child = fork(this.#options.entry, {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...this.#options.environment },
    })
    this.#child = child
    const stopWatching = watchForHang(child, this.#options.clock, () => this.#patientUntilMs)
    const onEnd = (reason: string) => {
      stopWatching()
      if (this.#child === child) this.#ended(reason)
    }
    child.on('exit', (code, signal) => onEnd(signal ?? `exit code ${code}`))
    child.on('error', (error) => {
      child.kill('SIGKILL')
      onEnd(error.message)
    })
    child.on('message', (message) => this.#receive(message))
    for (const stream of [child.stdout, child.stderr]) forwardLines(stream, this.#options.onOutput)
    this.#tell({ kind: 'load', settings: { ...this.#options.settings, cacheBytesMax: this.#cacheBytesMax } })
  }

  #tell(message: Told): void {
    if (this.#child?.connected === true) this.#child.send(message)
  }

  #receive(message: unknown): void {
    if (!this.#options.isMessage(message)) return this.kill()
    const common = message as Message as Common
    if (common.kind === 'ready') {
      if (this.#state !== 'stopped') this.#state = 'ready'
      this.#canLoad = true
      this.#yieldProcessor()
      this.#options.onReady(message as Extract<From, { readonly kind: 'ready' }>)
    } else if (common.kind === 'load-failed') {
      this.#options.onOutput(common.message)
      this.#canLoad = false
      this.kill()
    } else {
      this.#options.onMessage(message)
    }
  }

  /** Not before it is ready: until then others wait for it. */
  #yieldProcessor(): void {
    const pid = this.#child?.pid
    if (this.#options.yieldsProcessor === true && pid !== undefined) setPriority(pid, yieldingPriority)
  }

  #ended(reason: string): void {
    this.#child = null
    if (this.#state !== 'stopped') this.#restartLater()
    this.#options.onExit(reason)
  }

  #restartLater(): void {
    const { clock } = this.#options
    const now = clock.monotonicMs()
    this.#crashTimes = [...this.#crashTimes.filter((time) => now - time < 60_000), now]
    const crashes = this.#crashTimes.length
    this.#state = crashes > crashesPerMinuteMax || !this.#canLoad ? 'down' : 'loading'
    // The first crash is mended at once; a child that keeps crashing waits 1, 2, 4 … seconds.
    const pauseMs = crashes === 1 ? 0 : Math.min(restartPauseMsMax, 1_000 * 2 ** (crashes - 2))
    this.#cancelRestart = clock.after(pauseMs, () => this.#launch())
  }
}

/** Kills a child that gives no sign of life, or no progress while it is busy. Returns the way to stop watching. */
function watchForHang(child: ChildProcess, clock: Clock, patientUntilMs: () => number): () => void {
  let heardAtMs = clock.monotonicMs() + launchMsMax - silenceMsMax
  let progressAtMs = heardAtMs
  let lastSteps = 0
  child.on('message', (message: Common) => {
    heardAtMs = clock.monotonicMs()
    if (message.kind !== 'pong') return
    if (!message.isBusy || message.steps !== lastSteps) progressAtMs = heardAtMs
    lastSteps = message.steps
  })
  let cancel = () => {}
  const tick = () => {
    const now = clock.monotonicMs()
    if (now - Math.max(heardAtMs, patientUntilMs()) > silenceMsMax || now - progressAtMs > stepMsMax)
      child.kill('SIGKILL')
    else if (child.connected) child.send({ kind: 'ping' })
    cancel = clock.after(pingIntervalMs, tick)
  }
  tick()
  return () => cancel()
}

function forwardLines(stream: NodeJS.ReadableStream | null, onLine: (line: string) => void): void {
  stream?.setEncoding('utf8')
  stream?.on('data', (text: string) => {
    for (const line of text.split('\n')) if (line.trim() !== '') onLine(line.slice(0, 1_000))
  })
}
