import type { Clock } from '../../lib/clock.ts'
import { MovingMean } from '../slot-queue.ts'
import { BlockIndex, type BlockChain } from './block-index.ts'

/** A replica is given prompts that it will have computed in about so long; the next ones wait where any replica can have them. */
const roomMs = 500
/** Until a replica's pace is known; at 8,000 tokens a second it is half a second. */
const roomTokensDefault = 4_096
/** What is computed of a shorter prompt tells more of the network than of the replica. */
const measuredTokensMin = 256
/** Beyond this a replica that calls itself overloaded is tried again. */
const overloadMs = 2_000

/** A prompt that a replica is to compute: what of it was not held there. */
export type Prefill = { readonly tokens: number }

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
  readonly #tokens = new MovingMean()
  readonly #ms = new MovingMean()
  runningMax: number
  /** Whether it may be given anything, and how much of its room. */
  share = 0
  /** Prompts that are to be computed, in the order in which they were given. */
  readonly #prefills = new Set<Prefill>()
  /** Since when the first of them is computed. */
  #headMs = 0
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
    return this.#outstanding + this.#reported
  }

  /** Prompt tokens computed in a second; null before any were measured. */
  get tokensPerSecond(): number | null {
    const [tokens, ms] = [this.#tokens.value, this.#ms.value]
    return tokens === null || ms === null || ms === 0 ? null : (tokens * 1_000) / ms
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
    return this.#running < Math.max(1, this.runningMax * this.share) && this.outstanding < Math.max(1, this.room)
  }

  /** How long it takes to compute so many tokens of a prompt. */
  msFor(tokens: number): number {
    const rate = this.tokensPerSecond
    return (tokens * roomMs) / (rate === null ? roomTokensDefault : (rate * roomMs) / 1_000)
  }

  /** How long it will be until it has computed all that it was given, the first of it being under way. */
  startMs(nowMs: number): number {
    const [head] = this.#prefills
    const doneMs = head === undefined ? 0 : Math.min(this.msFor(head.tokens), nowMs - this.#headMs)
    return Math.max(this.msFor(this.outstanding) - doneMs, this.#overloadedUntilMs - nowMs)
  }

  /** A request is given to it, of whose prompt so many tokens are to be computed. */
  begin(tokens: number): Prefill {
    const prefill = { tokens }
    if (this.#prefills.size === 0) this.#headMs = this.#clock.monotonicMs()
    this.#prefills.add(prefill)
    this.#running += 1
    this.#outstanding += tokens
    return prefill
  }

  /** A prompt is computed, of which it has computed so many tokens; null where that is not known. */
  prefilled(prefill: Prefill, computedTokens: number | null): void {
    const nowMs = this.#clock.monotonicMs()
    const ms = nowMs - this.#headMs
    this.#prefills.delete(prefill)
    this.#headMs = nowMs
    this.#outstanding -= prefill.tokens
    if (computedTokens === null || computedTokens < measuredTokensMin) return
    this.#tokens.add(computedTokens)
    this.#ms.add(ms)
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
}

type Slot = {
  readonly id: number
  /** Whose prompt it holds; null where nobody knows. */
  organizationId: string | null
  chain: BlockChain
  isBusy: boolean
  usedAt: number
}

export type TakenSlot = { readonly id: number; readonly mayReuse: boolean }

/**
 * The slots of a replica that does not keep organizations apart by itself.
 *
 * What a slot holds may be gone on from by the organization whose it is, and by nobody else: else the time and the count of
 * a request would tell what another organization has asked.
 */
export class OwnedSlots {
  readonly #slots: Slot[]
  #uses = 0

  constructor(count: number) {
    this.#slots = Array.from({ length: count }, (_, id) => ({
      id,
      organizationId: null,
      chain: new Float64Array(),
      isBusy: false,
      usedAt: 0,
    }))
  }

  /** The free slot that holds most of a prompt, or else the one used longest ago; null where none is free. */
  take(organizationId: string, chain: BlockChain): TakenSlot | null {
    let best: Slot | null = null
    let bestShared = -1
    for (const slot of this.#slots) {
      if (slot.isBusy) continue
      const shared = slot.organizationId === organizationId ? sharedBlocks(slot.chain, chain) : 0
      const isBetter = shared > bestShared || (shared === bestShared && slot.usedAt < (best?.usedAt ?? Infinity))
      if (isBetter) [best, bestShared] = [slot, shared]
    }
    if (best === null) return null
    const mayReuse = best.organizationId === organizationId
    Object.assign(best, { organizationId, chain, isBusy: true, usedAt: ++this.#uses })
    return { id: best.id, mayReuse }
  }

  release({ id }: TakenSlot): void {
    const slot = this.#slots[id]
    if (slot !== undefined) slot.isBusy = false
  }
}

function sharedBlocks(held: BlockChain, wanted: BlockChain): number {
  let shared = 0
  while (shared < held.length && shared < wanted.length && held[shared] === wanted[shared]) shared += 1
  return shared
}
