import type { ThreadsChosen } from './choose-threads.ts'
import { ProcessorMeter, type ProcessorUse } from './processor-use.ts'

/** What a step computes: an answer's next tokens, or prompts, which gain far more from another thread. */
export type StepKind = 'answers' | 'prompts'

/** The kernel's accounting is asked again after this, so that what others begin is noticed within 100 ms. */
const noticeMs = 90
/** What was used before a rest that is longer says nothing of now: others may have had the machine for themselves. */
const restMsMin = 200

/** The library, which takes another number of threads for each step. */
export type TakesThreads = { setThreads(threads: number): void }

/** Gives each step its threads. */
export class StepThreads {
  readonly #library: TakesThreads
  readonly #governors: Readonly<Record<StepKind, ThreadGovernor>>
  readonly #adapts: boolean
  readonly #meter = new ProcessorMeter()
  #noticedMs = -Infinity
  #endedMs = -Infinity

  /** Where threads do not adapt, every step has as many as the first. */
  constructor(library: TakesThreads, chosen: ThreadsChosen, adapts: boolean) {
    this.#library = library
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
      if (use !== null && !isRested) for (const governor of Object.values(this.#governors)) governor.notice(use, nowMs)
    }
    this.#library.setThreads(this.#governors[kind].threads)
  }
}

// Hill climbing on the number of threads: down when they lose more than they gain, up by one trial after the other with a
// growing pause between.

/** What a step took by the clock, and by the processors that this process had meanwhile. */
export type StepTime = { readonly tokens: number; readonly ms: number; readonly processorMs: number }

/** Threads that spin use all of their processors. Having less than this of them, a step was held up. */
const hadAtLeast = 0.75
/** A step that takes this many times what such steps take was held up, whoever had the processors. */
const timesUsual = 2
/** Shorter delays are the clock's and the kernel's own. */
const delayMsMin = 3
/**
 * So much may be lost in steps that were held up, beyond what the threads gain, before they are given up for it. A wake-up
 * at the wrong moment costs tens of milliseconds now and then on an idle machine too.
 */
const lostMsMost = 100
/** What one thread more gains of what it might, as long as nobody knows: two threads then take three quarters of the time of one. */
const gainExpected = 0.5
/** However good a thread was when it was tried, it may not lose all of that. */
const gainMost = 1
/** More of a processor than this must be free for another thread to have it. */
const freeAtLeast = 0.85
/** Only steps of about as many tokens can be compared with each other. */
const alike = 1.3
/** Steps that show what one more thread brings, and how much less time they have to take for it. */
const trialSteps = 8
const worthwhile = 0.97
/** Processors must have been free for this long before a thread may have them. */
const freeMsMin = 500
/** Trials are this far apart. Each that fails doubles it, until none has failed for a few times as long. */
const pauseMsFirst = 1_000
const pauseMsMost = 60_000
const pausesForgotten = 4
/** A mean that follows a change within some five steps. */
const newest = 0.2

type Pace = { readonly tokens: number; readonly msPerToken: number }
type Trial = { readonly from: number; readonly before: Pace | null; steps: number; ms: number; tokens: number }

/**
 * Chooses how many threads compute the next step, by what the last ones took and what others leave of the machine.
 *
 * Threads of one step wait for each other by spinning. Where one of them loses its processor for a few
 * milliseconds all of them do, so one thread too many costs far more than one too few.
 */
export class ThreadGovernor {
  readonly #most: number
  #threads: number
  #pace: Pace | null = null
  #trial: Trial | null = null
  #pauseMs = pauseMsFirst
  #failedMs = -Infinity
  #notBeforeMs = -Infinity
  /** Since when there was room for another thread each time that somebody looked. */
  #freeSinceMs: number | null = null
  /** What steps that were held up took beyond what they should have, less what was made good for. */
  #lostMs = 0
  /** Milliseconds per token by threads and by size of step, where none was held up. */
  readonly #paces = new Map<string, number>()

  constructor({ first, most }: ThreadsChosen) {
    this.#threads = first
    this.#most = most
  }

  get threads(): number {
    return this.#threads
  }

  /** Takes notice of what others leave of the processors: what they use is given up at once, what they leave is tried. */
  notice({ free, overMs }: ProcessorUse, nowMs: number): void {
    const room = Math.max(1, Math.floor(free + 1 - freeAtLeast))
    if (room < this.#threads) this.#drop(room, nowMs)
    if (room <= this.#threads) return void (this.#freeSinceMs = null)
    this.#freeSinceMs ??= nowMs - overMs
    const mayTry = this.#trial === null && nowMs - this.#freeSinceMs >= freeMsMin && nowMs >= this.#notBeforeMs
    if (mayTry && this.#threads < this.#most) this.#try(Math.min(room, this.#most))
  }

  /** Takes notice of a step that was computed with `threads`. */
  measure(step: StepTime, nowMs: number): void {
    if (this.#wasHeldUp(step)) return this.#lose(step, nowMs)
    this.#judge(step, nowMs)
    this.#follow(step)
    this.#lostMs = Math.max(0, this.#lostMs - step.ms * this.#gain(step))
  }

  /** What a step of this size would take longer with one thread less, as a share of what it takes. */
  #gain({ tokens, ms }: StepTime): number {
    if (this.#threads === 1) return 0
    const fewer = this.#paces.get(paceKey(this.#threads - 1, tokens))
    if (fewer === undefined) return gainExpected / (this.#threads - 1)
    return Math.max(0, Math.min(gainMost, (fewer * tokens) / ms - 1))
  }

  #lose({ tokens, ms, processorMs }: StepTime, nowMs: number): void {
    const usualMs = isAlike(this.#pace, tokens) ? this.#pace.msPerToken * tokens : processorMs / this.#threads
    this.#lostMs += Math.max(0, ms - usualMs)
    if (this.#lostMs < lostMsMost) return
    this.#drop(Math.max(1, Math.min(this.#threads - 1, Math.floor(processorMs / ms) - 1)), nowMs)
  }

  #wasHeldUp({ tokens, ms, processorMs }: StepTime): boolean {
    if (this.#threads === 1 || ms * (1 - hadAtLeast) < delayMsMin) return false
    if (processorMs < ms * this.#threads * hadAtLeast) return true
    const usualMs = isAlike(this.#pace, tokens) ? this.#pace.msPerToken * tokens : Infinity
    return ms > usualMs * timesUsual && ms > usualMs + delayMsMin
  }

  #drop(threads: number, nowMs: number): void {
    this.#threads = threads
    this.#pace = null
    this.#trial = null
    this.#freeSinceMs = null
    this.#lostMs = 0
    this.#wait(nowMs)
  }

  #wait(nowMs: number): void {
    const isForgotten = nowMs - this.#failedMs > this.#pauseMs * pausesForgotten
    this.#pauseMs = isForgotten ? pauseMsFirst : Math.min(pauseMsMost, this.#pauseMs * 2)
    this.#failedMs = nowMs
    this.#notBeforeMs = nowMs + this.#pauseMs
  }

  #try(threads: number): void {
    this.#trial = { from: this.#threads, before: this.#pace, steps: 0, ms: 0, tokens: 0 }
    this.#threads = threads
    this.#pace = null
  }

  /** A trial that is not worth its thread is taken back. Without steps to compare with, the first that come decide nothing. */
  #judge({ tokens, ms }: StepTime, nowMs: number): void {
    const trial = this.#trial
    if (trial === null) return
    if (trial.before !== null && !isAlike(trial.before, tokens)) return
    trial.steps += 1
    trial.ms += ms
    trial.tokens += tokens
    if (trial.steps < trialSteps) return
    this.#trial = null
    if (trial.before !== null && trial.ms / trial.tokens > trial.before.msPerToken * worthwhile) {
      this.#threads = trial.from
      this.#pace = trial.before
      return this.#wait(nowMs)
    }
    this.#notBeforeMs = nowMs + pauseMsFirst
  }

  #follow({ tokens, ms }: StepTime): void {
    const msPerToken = ms / tokens
    const pace = this.#pace
    if (!isAlike(pace, tokens)) this.#pace = { tokens, msPerToken }
    else this.#pace = { tokens, msPerToken: pace.msPerToken + (msPerToken - pace.msPerToken) * newest }
    this.#paces.set(paceKey(this.#threads, tokens), this.#pace?.msPerToken ?? msPerToken)
  }
}

/** Sizes within the same power of two count as one. */
function paceKey(threads: number, tokens: number): string {
  return `${threads} ${Math.floor(Math.log2(tokens))}`
}

function isAlike(pace: Pace | null, tokens: number): pace is Pace {
  return pace !== null && tokens <= pace.tokens * alike && pace.tokens <= tokens * alike
}
