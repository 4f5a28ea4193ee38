// Keeps one child process alive: the engine of a file of weights, or its text child. A native
// crash, an out-of-memory kill or a stalled decode then costs the requests of that child and
// nothing else, and unloading gives the memory back, which freeing inside the process does not.
//
//     loading → ready ──────────→ stopped
//        │        ├──→ asleep → loading
//        └────────┴──→ (crash) → loading, or down after too many, and again after a growing pause

import type { ChildProcess } from 'node:child_process'
import { totalmem } from 'node:os'
import type { ChildOptions } from './child-options.ts'
import { launchChild } from './launch-child.ts'
import type { Weights } from './gguf/inspect-weights.ts'
import { messageOf } from '../../lib/message-of.ts'
import { prioritize, threadsOf } from '../../lib/system/processor-priority.ts'
import { RestartPolicy, type EndKind } from './restart-policy.ts'
import {
  forwardLines,
  watchForHang,
  stallLimitMs,
  watchLoading,
  type LoadingOutlook,
  type LoadingWatch,
} from './watch-child.ts'
import { inspectOffThread } from './weights-check/check-off-thread.ts'
import type { LoadSettings, TaskId } from './ipc.ts'
import { CardChoice } from './nvidia-card.ts'
import { PartSender } from './message-parts.ts'
import { inLargePages, type WeightsPlace } from './weights-place.ts'

/** Messages in which every kind of child speaks of itself; all others are between it and its owner. */
type Common =
  | { readonly kind: 'loading'; readonly progress: number }
  | { readonly kind: 'ready' }
  | { readonly kind: 'load-failed'; readonly message: string }

type Message = { readonly kind: string }

/** Messages that every kind of child understands. */
type Told =
  | Message
  | { readonly kind: 'resize-cache'; readonly bytesMax: number }
  | { readonly kind: 'load'; readonly settings: LoadSettings }

export type SupervisorOptions<From extends Message> = ChildOptions & {
  /** The child's program. */
  readonly entry: URL
  /** The priority of a child that yields the processor to others, or precedes them, once it is ready; that of any process where it is absent. */
  readonly priority?: number
  /** The system does not let the child have its priority. */
  onPriorityRefused?(): void
  /** Where a child that computes has its weights; one that does not reads little of them, and maps their file. */
  readonly place?: WeightsPlace
  /** A child that says anything else is ended. */
  isMessage(message: unknown): message is From
  onReady(ready: Extract<From, { readonly kind: 'ready' }>): void
  onMessage(message: From): void
}

/** Making text into tokens keeps a child from answering; the slowest text measured took 0.44 µs a character. */
const msPerCharacter = 0.001
/** To serialize more text than this at a stroke would be felt by others. */
const partedCharactersMin = 262_144

/** How long a child that is told to stop may go on saving. */
const savingMsMax = 20_000

export class Supervisor<To extends Told, From extends Message> {
  readonly #options: SupervisorOptions<From>
  readonly #parts = new PartSender((message, onSent) => this.#post(message, onSent))
  #child: ChildProcess | null = null
  #state: 'loading' | 'ready' | 'asleep' | 'down' | 'stopped' = 'loading'
  /** Whether the child ends because it was put to sleep. */
  #fallsAsleep = false
  readonly #restarts = new RestartPolicy()
  #loading: LoadingWatch | null = null
  /** Why there is no child that is ready; null where there is one, or none was tried yet. */
  #reason: string | null = null
  #endKind: EndKind = 'crashed'
  /** Until then the child may be silent, because of the text it was given. */
  #patientUntilMs = 0
  #cancelRestart = () => {}
  #nextTryMs = 0
  #cacheBytesMax: number
  readonly #cards: CardChoice

  constructor(options: SupervisorOptions<From>) {
    this.#options = options
    this.#cacheBytesMax = options.settings.cacheBytesMax
    this.#cards = new CardChoice(options)
    this.#launch()
  }

  get state() {
    return this.#state
  }

  /** Why the engine is not ready, for the operator; null while it is. */
  get reason(): string | null {
    return this.#reason
  }

  /** How far loading has come; nothing is told between two tries. */
  get loading(): LoadingOutlook {
    return this.#loading?.outlook() ?? { share: 0, readyInMs: null }
  }

  /** When the child may be ready: by how loading goes on, or not before its next try. Null where nobody can tell. */
  get readyInMs(): number | null {
    if (this.#child !== null) return this.loading.readyInMs
    return Math.max(0, this.#nextTryMs - this.#options.clock.monotonicMs())
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
    if (characters > partedCharactersMin && hasId(message)) this.#parts.send(message)
    else this.send(message)
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

  /**
   * Ends the child until it is woken, which gives its memory back; what it keeps on the disk is saved before. Changes
   * nothing while there is none that is ready.
   */
  sleep(): void {
    if (this.#state !== 'ready') return
    this.#state = 'asleep'
    this.#fallsAsleep = true
    void this.#end()
  }

  /** Loads the weights again where the child is asleep; one that still saves is waited for. */
  wake(): void {
    if (this.#state !== 'asleep') return
    this.#state = 'loading'
    if (!this.#fallsAsleep) this.#launch()
  }

  async stop(): Promise<void> {
    this.#state = 'stopped'
    this.#cancelRestart()
    await this.#end()
  }

  async #end(): Promise<void> {
    const child = this.#child
    if (child === null) return
    const exited = new Promise((resolve) => child.once('exit', resolve))
    if (this.#options.settings.cacheOnDisk !== null) {
      this.#tell({ kind: 'stop' })
      const cancel = this.#options.clock.after(savingMsMax, () => child.kill('SIGKILL'))
      await exited
      return cancel()
    }
    child.kill('SIGKILL')
    await exited
  }

  /** Nothing reads the weights before they were looked at: each time, since a file can change. */
  #launch(): void {
    const { settings, checkWeights } = this.#options
    const stopped = new AbortController()
    this.#cancelRestart = () => stopped.abort()
    const check = checkWeights ?? ((signal: AbortSignal) => inspectOffThread(settings.weightsPath, signal))
    check(stopped.signal)
      .then((weights) => {
        if (!stopped.signal.aborted) this.#start(weights)
      })
      .catch((error: unknown) => {
        if (!stopped.signal.aborted) this.#refuse(messageOf(error))
      })
  }

  /** Weights that may not be loaded, or a child that may not be started. */
  #refuse(reason: string): void {
    this.#reason = reason
    this.#options.onOutput(reason)
    this.#ended(reason, 'refused')
  }

  #start(weights: Weights): void {
    const { settings, environment, clock, confinement = 'auto', onConfined = () => {} } = this.#options
    const { gpu } = this.#cards
    const memoryBytesMax = this.#options.memoryBytesMax?.(weights) ?? totalmem()
    const copiesWeights = this.#options.place?.isCopy(weights.bytes, memoryBytesMax) === true
    const { process: child, ended } = launchChild(this.#options.entry, {
      weightsPaths: weights.paths,
      cacheFolder: settings.cacheOnDisk?.folder ?? null,
      usesDevices: gpu !== 'off',
      drivesNvidia: this.#cards.drivesNvidia,
      environment: { ...environment, ...(copiesWeights && inLargePages) },
      confinement,
      memoryBytesMax,
      clock,
      onConfined,
    })
    this.#child = child
    const limitMs = this.#options.loadingStallMsMax ?? stallLimitMs(weights.bytes)
    let stalled: string | null = null
    this.#loading = watchLoading(clock, limitMs, () => {
      stalled = `loading did not advance for ${Math.round(limitMs / 1_000)} s`
      child.kill('SIGKILL')
    })
    const stopWatching = watchForHang(child, this.#options.clock, { patientUntilMs: () => this.#patientUntilMs })
    const onEnd = (reason: string) => {
      stopWatching()
      if (this.#child === child) this.#ended(stalled ?? reason, this.#endKind)
    }
    void ended.then(onEnd)
    child.on('message', (message) => this.#receive(message))
    forwardLines(child, (line) => this.#options.onOutput(line))
    this.#tell({ kind: 'load', settings: { ...settings, gpu, cacheBytesMax: this.#cacheBytesMax, copiesWeights } })
  }

  #tell(message: Told): void {
    if (!this.#parts.holdBack(message)) this.#post(message, null)
  }

  #post(message: Told, onSent: (() => void) | null): boolean {
    if (this.#child?.connected !== true) return false
    // Without a callback a failure would be an event of the child's.
    if (onSent === null) this.#child.send(message)
    else this.#child.send(message, (error) => error === null && onSent())
    return true
  }

  #receive(message: unknown): void {
    if (!this.#options.isMessage(message)) return this.kill()
    const common = message as Message as Common
    if (common.kind === 'ready') {
      if (this.#state !== 'stopped') this.#state = 'ready'
      this.#loading?.stop()
      this.#restarts.ready()
      this.#reason = null
      this.#prioritize()
      this.#options.onReady(message as Extract<From, { readonly kind: 'ready' }>)
    } else if (common.kind === 'loading') {
      this.#loading?.advanced(common.progress)
    } else if (common.kind === 'load-failed') {
      this.#options.onOutput(common.message)
      this.#reason = common.message
      this.#endKind = 'load-failed'
      this.kill()
    } else {
      this.#options.onMessage(message)
    }
  }

  /** A child that gives way does so only once it is ready: until then requests wait for it. */
  #prioritize(): void {
    const pid = this.#child?.pid
    const { priority, onPriorityRefused } = this.#options
    if (priority === undefined || pid === undefined) return
    if (!prioritize(threadsOf(pid), priority)) onPriorityRefused?.()
  }

  #ended(reason: string, kind: EndKind): void {
    this.#child = null
    if (kind === 'crashed' && this.#state === 'loading' && !this.#cards.passOver()) this.#options.place?.ruleOut()
    this.#parts.clear()
    this.#loading?.stop()
    this.#loading = null
    this.#endKind = 'crashed'
    if (this.#fallsAsleep && this.#state !== 'stopped') return this.#fellAsleep()
    if (this.#state !== 'stopped') this.#restartLater(reason, kind)
    this.#options.onExit(reason)
  }

  #fellAsleep(): void {
    this.#fallsAsleep = false
    this.#options.onAsleep?.()
    if (this.#state === 'loading') this.#launch()
  }

  #restartLater(reason: string, kind: EndKind): void {
    const { clock } = this.#options
    const { pauseMs, isDown } = this.#restarts.ended(kind, clock.monotonicMs())
    // What the child itself, or the check of its weights, said is clearer than how it ended.
    if (kind === 'crashed') this.#reason = `The engine ended: ${reason}.`
    this.#state = isDown ? 'down' : 'loading'
    this.#nextTryMs = clock.monotonicMs() + pauseMs
    this.#cancelRestart = clock.after(pauseMs, () => this.#launch())
  }
}

function hasId<To extends Told>(message: To): message is To & { readonly id: TaskId } {
  return 'id' in message
}
