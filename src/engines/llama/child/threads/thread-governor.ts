// Hill climbing on the number of threads: down when they lose more than they gain, up by one trial after the other with a
// growing pause between.

import type { ThreadsChosen } from './choose-threads.ts'
import type { ProcessorUse } from './processor-use.ts'

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
/** A thread that gains so many times what is lost for it was worth that: steps that are held up are felt more than quick ones. */
const worthLosing = 2
/** What one thread more gains of what it might, as long as nobody knows: two threads then take three quarters of the time of one. */
const gainExpected = 0.5
/** However good a thread was when it was tried, it may not lose all of that. */
const gainMost = 1
/**
 * More of a processor than this must be free for another thread to have it. The service itself uses some of what is
 * left to it while it hands tokens on, and the kernel counts in hundredths of a second: a machine that does nothing
 * else reads as 0.7 to 1 free.
 */
export const freeToTake = 0.6
/** A thread that has less than this of its processor is given up at once; between the two its steps decide. */
const freeToKeep = 0.4
/** Steps of a trial that one more thread takes part in, and how much less time they have to take for it. */
const trialSteps = 8
const worthwhile = 0.97
/** A trial of long steps is over as soon as it is clear: each step without the thread costs what the trial is about. */
const clearSteps = 4
const clearMs = 400
const clearlyWorthwhile = 0.85
/** Processors must have been free for this long before a thread may have them. */
const freeMsMin = 300
/**
 * Trials are this far apart. A thread that lost more than it gained until it was given up doubles it, until none has for
 * a few times as long.
 */
const pauseMsFirst = 1_000
const pauseMsMost = 60_000
const pausesForgotten = 4
/** A mean that follows a change within some five steps. */
const newest = 0.2

/** What steps took together. */
type Taken = { ms: number; tokens: number }

/**
 * Every other step has one thread more (`to`), so that both are measured on the same work: prompts grow longer, and a step
 * of one costs a multiple of what another does.
 */
type Trial = {
  readonly from: number
  readonly to: number
  steps: number
  /** By size of step. */
  readonly taken: Map<number, { readonly from: Taken; readonly to: Taken }>
}

/**
 * Chooses how many threads compute the next step, by what the last ones took and what others leave of the machine.
 *
 * Threads of one step wait for each other by spinning. Where one of them loses its processor for a few
 * milliseconds all of them do, so one thread too many costs far more than one too few.
 */
export class ThreadGovernor {
  readonly #most: number
  /** How many compute when nothing is tried. */
  #settled: number
  #trial: Trial | null = null
  #pauseMs = pauseMsFirst
  #failedMs = -Infinity
  #notBeforeMs = -Infinity
  /** Since when there was room for another thread each time that somebody looked. */
  #freeSinceMs: number | null = null
  /** What steps that were held up took beyond what they should have, less what was made good for. */
  #lostMs = 0
  /** How many computed until they were given up for what others used, and had been worth it; zero where there were none. */
  #worthwhile = 0
  /** What last threads have lost and gained until they were given up; of each time before only half. */
  readonly #account = { lostMs: 0, gainedMs: 0 }
  /** Milliseconds per token where no step was held up: by threads, then by size of step. */
  readonly #paces = new Map<number, Map<number, number>>()

  constructor({ first, most }: ThreadsChosen) {
    this.#settled = first
    this.#most = most
  }

  get threads(): number {
    const trial = this.#trial
    if (trial === null) return this.#settled
    return trial.steps % 2 === 0 ? trial.to : trial.from
  }

  /** Takes notice of what others leave of the processors: what they use is given up at once, what they leave is tried. */
  notice({ free, overMs }: ProcessorUse, nowMs: number): void {
    const used = this.#trial?.to ?? this.#settled
    const kept = Math.max(1, Math.floor(free + 1 - freeToKeep))
    if (kept < used) this.#drop(kept, nowMs)
    const room = Math.max(1, Math.floor(free + 1 - freeToTake))
    if (room <= this.#settled) return void (this.#freeSinceMs = null)
    this.#freeSinceMs ??= nowMs - overMs
    const mayTry = this.#trial === null && nowMs - this.#freeSinceMs >= freeMsMin && nowMs >= this.#notBeforeMs
    if (!mayTry || this.#settled >= this.#most) return
    // A trial costs steps without the thread, which is known already to be worth them.
    if (this.#worthwhile > this.#settled && this.#worthwhile <= room) this.#settle(this.#worthwhile)
    else this.#try(Math.min(room, this.#most))
  }

  /** Takes notice of a step that was computed with `threads`. */
  measure(step: StepTime, nowMs: number): void {
    const threads = this.threads
    if (this.#wasHeldUp(threads, step)) return this.#lose(threads, step, nowMs)
    this.#follow(threads, step)
    const gainedMs = step.ms * this.#gain(threads, step)
    this.#account.gainedMs += gainedMs
    this.#lostMs = Math.max(0, this.#lostMs - gainedMs)
    this.#judge(threads, step, nowMs)
  }

  /** What a step of this size would take longer with one thread less, as a share of what it takes. */
  #gain(threads: number, { tokens, ms }: StepTime): number {
    if (threads === 1) return 0
    const fewerMs = this.#usualMs(threads - 1, tokens)
    if (fewerMs === null) return gainExpected / (threads - 1)
    return Math.max(0, Math.min(gainMost, fewerMs / ms - 1))
  }

  #lose(threads: number, { tokens, ms, processorMs }: StepTime, nowMs: number): void {
    const lostMs = Math.max(0, ms - (this.#usualMs(threads, tokens) ?? processorMs / threads))
    this.#account.lostMs += lostMs
    this.#lostMs += lostMs
    if (this.#lostMs < lostMsMost) return
    this.#drop(Math.max(1, Math.min(threads - 1, Math.floor(processorMs / ms) - 1)), nowMs)
  }

  #wasHeldUp(threads: number, { tokens, ms, processorMs }: StepTime): boolean {
    if (threads === 1 || ms * (1 - hadAtLeast) < delayMsMin) return false
    if (processorMs < ms * threads * hadAtLeast) return true
    const usualMs = this.#usualMs(threads, tokens) ?? Infinity
    return ms > usualMs * timesUsual && ms > usualMs + delayMsMin
  }

  #usualMs(threads: number, tokens: number): number | null {
    const msPerToken = this.#paces.get(threads)?.get(sizeOf(tokens))
    return msPerToken === undefined ? null : msPerToken * tokens
  }

  #drop(threads: number, nowMs: number): void {
    // What seemed to hold steps up may have been longer prompts.
    for (const known of this.#paces.keys()) if (known > threads) this.#paces.delete(known)
    const { lostMs, gainedMs } = this.#account
    const isWorthwhile = gainedMs > lostMs * worthLosing
    this.#worthwhile = isWorthwhile && this.#trial === null ? this.#settled : 0
    this.#settle(threads)
    this.#freeSinceMs = null
    this.#lostMs = 0
    // Neighbours that come and go for moments are no reason to do without for long.
    if (isWorthwhile) this.#notBeforeMs = nowMs
    else this.#wait(nowMs)
    this.#account.gainedMs = gainedMs / 2
    this.#account.lostMs = lostMs / 2
  }

  #settle(threads: number): void {
    this.#settled = threads
    this.#trial = null
  }

  #wait(nowMs: number): void {
    const isForgotten = nowMs - this.#failedMs > this.#pauseMs * pausesForgotten
    this.#pauseMs = isForgotten ? pauseMsFirst : Math.min(pauseMsMost, this.#pauseMs * 2)
    this.#failedMs = nowMs
    this.#notBeforeMs = nowMs + this.#pauseMs
  }

  #try(to: number): void {
    this.#trial = { from: this.#settled, to, steps: 0, taken: new Map() }
  }

  /** A trial that is not worth its thread is taken back. */
  #judge(threads: number, { tokens, ms }: StepTime, nowMs: number): void {
    const trial = this.#trial
    if (trial === null) return
    const size = sizeOf(tokens)
    const taken = trial.taken.get(size) ?? { from: { ms: 0, tokens: 0 }, to: { ms: 0, tokens: 0 } }
    const side = taken[threads === trial.to ? 'to' : 'from']
    side.ms += ms
    side.tokens += tokens
    trial.taken.set(size, taken)
    trial.steps += 1
    const share = shareOfTime(trial)
    if (share === null || !isOver(trial, share)) return
    const isWorthwhile = share <= worthwhile
    this.#settle(isWorthwhile ? trial.to : trial.from)
    if (isWorthwhile) this.#notBeforeMs = nowMs + pauseMsFirst
    else this.#wait(nowMs)
  }

  #follow(threads: number, { tokens, ms }: StepTime): void {
    const paces = this.#paces.get(threads) ?? new Map<number, number>()
    this.#paces.set(threads, paces)
    const msPerToken = ms / tokens
    const known = paces.get(sizeOf(tokens)) ?? msPerToken
    paces.set(sizeOf(tokens), known + (msPerToken - known) * newest)
  }
}

function isOver({ steps, taken }: Trial, share: number): boolean {
  if (steps >= trialSteps * 2) return true
  const ms = taken.values().reduce((sum, { from, to }) => sum + from.ms + to.ms, 0)
  return steps >= clearSteps && ms >= clearMs && share <= clearlyWorthwhile
}

/** What the steps of a trial with one thread more took of the time that they take without; null where none can be compared. */
function shareOfTime({ taken }: Trial): number | null {
  let [withMs, withoutMs] = [0, 0]
  for (const { from, to } of taken.values()) {
    if (from.tokens === 0 || to.tokens === 0) continue
    withMs += to.ms
    withoutMs += (from.ms / from.tokens) * to.tokens
  }
  return withoutMs === 0 ? null : withMs / withoutMs
}

/** Sizes within the same power of two count as one: only steps of about as many tokens can be compared. */
function sizeOf(tokens: number): number {
  return Math.floor(Math.log2(tokens))
}
