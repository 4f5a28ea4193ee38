import type { ThreadsChosen } from './choose-threads.ts'
import { ProcessorMeter } from './processor-use.ts'
import { freeToTake, ThreadGovernor } from './thread-governor.ts'

/** What a step computes: an answer's next tokens, or prompts, which gain far more from another thread. */
export type StepKind = 'answers' | 'prompts'

/** The kernel's accounting is asked again after this, so that what others begin is noticed within 100 ms. */
const noticeMs = 90
/** What others used during a rest that is longer says nothing of now: they may have had the machine for themselves. */
const restMsMin = 200

/** The library, which takes another number of threads for each step. */
export type TakesThreads = { setThreads(threads: number): void }

/** Gives each step its threads. */
export class StepThreads {
  readonly #library: TakesThreads
  readonly #governors: Readonly<Record<StepKind, ThreadGovernor>>
  readonly #adapts: boolean
  readonly #most: number
  readonly #meter: Pick<ProcessorMeter, 'read'>
  #noticedMs = -Infinity
  #endedMs = -Infinity

  /** Where threads do not adapt, every step has as many as the first. */
  constructor(
    library: TakesThreads,
    chosen: ThreadsChosen,
    adapts: boolean,
    meter: Pick<ProcessorMeter, 'read'> = new ProcessorMeter(),
  ) {
    this.#library = library
    this.#meter = meter
    this.#most = chosen.most
    this.#governors = { answers: new ThreadGovernor(chosen), prompts: new ThreadGovernor(chosen) }
    this.#adapts = adapts && chosen.most > 1
    if (this.#adapts) this.#meter.read()
  }

  /** Computes a step and returns its milliseconds. */
  async run(kind: StepKind, tokens: number, decode: () => Promise<void>): Promise<number> {
    if (this.#adapts) this.#prepare(kind)
    const startedMs = performance.now()
    const before = process.cpuUsage()
    await decode()
    this.#endedMs = performance.now()
    const ms = this.#endedMs - startedMs
    if (this.#adapts) {
      const { user, system } = process.cpuUsage(before)
      this.#governors[kind].measure({ tokens, ms, processorMs: (user + system) / 1_000 }, this.#endedMs)
    }
    return ms
  }

  #prepare(kind: StepKind): void {
    const nowMs = performance.now()
    const isRested = nowMs - this.#endedMs > restMsMin
    if (isRested || nowMs - this.#noticedMs >= noticeMs) {
      this.#noticedMs = nowMs
      const use = this.#meter.read()
      // Where nobody used anything while this process rested, the first steps after it need not wait for that to be known.
      const tells = use !== null && (!isRested || use.free >= this.#most - (1 - freeToTake))
      if (tells) for (const governor of Object.values(this.#governors)) governor.notice(use, nowMs)
    }
    this.#library.setThreads(this.#governors[kind].threads)
  }
}
