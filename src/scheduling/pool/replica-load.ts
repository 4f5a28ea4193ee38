import type { Clock } from '../../lib/clock.ts'
import { MovingMean } from '../slot-queue.ts'
import { BlockIndex } from './block-index.ts'
import type { OwnedSlots } from './owned-slots.ts'

/** A replica is given prompts that it will have computed in about so long; the next ones wait where any replica can have them. */
const roomMs = 500
/** Until a replica's pace is known; at 8,000 tokens a second it is half a second. */
const roomTokensDefault = 4_096
/** What is computed of a shorter prompt tells more of the network than of the replica. */
const measuredTokensMin = 256
/** Beyond this a replica that calls itself overloaded is tried again. */
const overloadMs = 2_000

/**
 * A replica's first prompts may take a hundred times as long as later ones: in so long a silence half of what was measured is
 * forgotten.
 */
const paceHalfLifeMs = 60_000

/** Until then another gateway will have told of what its own prompts had to do with how long one took. */
const settledMs = 300

/** A prompt that a replica is to compute: what of it was not held there, and when it was given. */
export type Prefill = { readonly tokens: number; readonly beganMs: number }

/** A prompt that was computed, whoever had given it; `tokens` are those of it that were not held, null where nobody knows. */
export type Computed = { readonly tokens: number | null; readonly beganMs: number; readonly doneMs: number }

/** What one gateway has given a replica, and when it gave the first prompt that is still to be computed; null where none is. */
export type PeerLoad = { readonly outstanding: number; readonly running: number; readonly beganMs: number | null }

export type ReplicaLoadOptions = {
  readonly id: string
  readonly clock: Clock
  /** Answers that it generates at a time. */
  readonly runningMax: number
  /** Tokens of prompts and answers that it can hold. */
  readonly heldTokensMax: number
}

/** What one replica has to do, as far as this gateway knows, and the blocks it is believed to hold. */
export class ReplicaLoad {
  readonly id: string
  readonly index: BlockIndex
  readonly #clock: Clock
  readonly #pace = new PrefillPace()
  /** What other gateways have given it, by their ids. */
  readonly #peers = new Map<string, PeerLoad>()
  runningMax: number
  /** The slots that gateways keep apart by organization; null where the replica does that itself, or nobody is to. */
  slots: OwnedSlots | null = null
  /** Whether it may be given anything, and how much of its room. */
  share = 0
  /** Prompts that are to be computed, in the order in which they were given. */
  readonly #prefills = new Set<Prefill>()
  /** When the last of those before them was computed, whoever had given it. */
  #lastDoneMs = -Infinity
  #running = 0
  #outstanding = 0
  #reported = 0
  #overloadedUntilMs = 0
  #promptTokens = 0
  #cachedTokens = 0

  constructor({ id, clock, runningMax, heldTokensMax }: ReplicaLoadOptions) {
    this.id = id
    this.#clock = clock
    this.runningMax = runningMax
    this.index = new BlockIndex(heldTokensMax)
  }

  get running(): number {
    return this.#running
  }

  /** Prompt tokens that are to be computed, those that others have given it included. */
  get outstanding(): number {
    return this.#outstanding + Math.max(this.#reported, this.#ofPeers('outstanding'))
  }

  /** What this gateway alone has given it. */
  get own(): PeerLoad {
    const [head] = this.#prefills
    return { outstanding: this.#outstanding, running: this.#running, beganMs: head?.beganMs ?? null }
  }

  /** Prompt tokens computed in a second; null before any were measured. */
  get tokensPerSecond(): number | null {
    return this.#pace.tokensPerSecond
  }

  /** The share of prompt tokens that it had already; null before any were sent. */
  get hitRate(): number | null {
    return this.#promptTokens === 0 ? null : this.#cachedTokens / this.#promptTokens
  }

  get room(): number {
    const rate = this.tokensPerSecond
    return (rate === null ? roomTokensDefault : (rate * roomMs) / 1_000) * this.share
  }

  get isOpen(): boolean {
    if (this.share <= 0 || this.#clock.monotonicMs() < this.#overloadedUntilMs) return false
    const running = this.#running + this.#ofPeers('running')
    return running < Math.max(1, this.runningMax * this.share) && this.outstanding < Math.max(1, this.room)
  }

  /** How long it takes to compute so many tokens of a prompt. */
  msFor(tokens: number): number {
    const rate = this.tokensPerSecond
    return (tokens * roomMs) / (rate === null ? roomTokensDefault : (rate * roomMs) / 1_000)
  }

  /**
   * How long it takes to compute a token of a prompt. Of a replica that was slow, and of which nothing was measured since,
   * less is believed the longer that is ago, down to what the fastest takes: however slow it was, it is tried again.
   */
  believedMsPerToken(fastestMs: number, nowMs: number): number {
    const measuredMs = this.msFor(1)
    return this.tokensPerSecond === null ? measuredMs : Math.max(fastestMs, measuredMs * this.#pace.kept(nowMs))
  }

  /** How long it will be until it has computed all that it was given, the first of it being under way. */
  startMs(nowMs: number): number {
    return Math.max(this.msFor(this.outstanding) - this.#doneMs(nowMs), this.#overloadedUntilMs - nowMs)
  }

  /** For how long it has computed of what it has yet to compute. */
  #doneMs(nowMs: number): number {
    const [head] = this.#prefills
    let beganMs = head?.beganMs ?? Infinity
    let tokens = head?.tokens ?? 0
    for (const peer of this.#peers.values()) {
      if (peer.beganMs === null || peer.beganMs >= beganMs) continue
      // That another gateway's prompt is computed is heard of a little later: meanwhile it goes on with the next.
      beganMs = peer.beganMs
      tokens = peer.outstanding
    }
    return Math.max(0, Math.min(this.msFor(tokens), nowMs - Math.max(beganMs, this.#lastDoneMs)))
  }

  /** A request is given to it, of whose prompt so many tokens are to be computed. */
  begin(tokens: number): Prefill {
    const prefill = { tokens, beganMs: this.#clock.monotonicMs() }
    this.#prefills.add(prefill)
    this.#running += 1
    this.#outstanding += tokens
    return prefill
  }

  /** A prompt is computed, of which it has computed so many tokens; null where that is not known. */
  prefilled(prefill: Prefill, computedTokens: number | null): Computed {
    const [head = prefill] = this.#prefills
    const computed = { tokens: computedTokens, beganMs: head.beganMs, doneMs: this.#clock.monotonicMs() }
    this.#prefills.delete(prefill)
    this.#outstanding -= prefill.tokens
    this.computed(computed)
    return computed
  }

  /** Notes a prompt that it has computed, for this gateway or another one. */
  computed(computed: Computed): void {
    this.#lastDoneMs = Math.max(this.#lastDoneMs, computed.doneMs)
    this.#pace.add(computed)
    this.#pace.settle(this.#clock.monotonicMs() - (this.#peers.size > 0 ? settledMs : 0))
  }

  /** Another gateway says what it has given it, and of which slots it told; null when that gateway is gone. */
  peer(gatewayId: string, load: PeerLoad | null, slots: readonly number[] = []): void {
    if (load === null) this.#peers.delete(gatewayId)
    else this.#peers.set(gatewayId, load)
    this.slots?.peer(gatewayId, load === null ? null : slots)
  }

  /** It said how much of a prompt it had already. */
  cached(promptTokens: number, cachedTokens: number): void {
    this.#promptTokens += promptTokens
    this.#cachedTokens += cachedTokens
  }

  end(): void {
    this.#running -= 1
  }

  /** What it says itself of prompts that wait there, our own left out. */
  report(waitingTokens: number): void {
    this.#reported = Math.max(0, waitingTokens - this.#outstanding)
  }

  overloaded(): void {
    this.#overloadedUntilMs = this.#clock.monotonicMs() + overloadMs
  }

  #ofPeers(what: 'outstanding' | 'running'): number {
    let sum = 0
    for (const load of this.#peers.values()) sum += load[what]
    return sum
  }
}

/** How fast prompts are computed one behind the other, whoever gave them and in whatever order that is heard of. */
class PrefillPace {
  readonly #tokens = new MovingMean()
  readonly #ms = new MovingMean()
  readonly #computed: Computed[] = []
  #lastDoneMs = -Infinity
  /** When the last prompt was done that was long enough. */
  #measuredMs = -Infinity

  get tokensPerSecond(): number | null {
    const [tokens, ms] = [this.#tokens.value, this.#ms.value]
    return tokens === null || ms === null || ms === 0 ? null : (tokens * 1_000) / ms
  }

  /** The share of what was measured that still counts. */
  kept(nowMs: number): number {
    return Math.min(1, 0.5 ** ((nowMs - this.#measuredMs) / paceHalfLifeMs))
  }

  add(computed: Computed): void {
    const at = this.#computed.findLastIndex(({ doneMs }) => doneMs <= computed.doneMs)
    this.#computed.splice(at + 1, 0, computed)
  }

  /** Measures what was done until then: nothing that comes later changes in what order it was. */
  settle(untilMs: number): void {
    for (let next = this.#computed[0]; next !== undefined && next.doneMs <= untilMs; next = this.#computed[0]) {
      this.#computed.shift()
      const ms = next.doneMs - Math.max(this.#lastDoneMs, next.beganMs)
      this.#lastDoneMs = Math.max(this.#lastDoneMs, next.doneMs)
      if (next.tokens === null || next.tokens < measuredTokensMin || ms <= 0) continue
      const kept = this.kept(next.doneMs)
      this.#tokens.add(next.tokens, kept)
      this.#ms.add(ms, kept)
      this.#measuredMs = next.doneMs
    }
  }
}
