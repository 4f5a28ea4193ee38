// Where a pool's requests wait for a replica. None is placed before a replica has room for it: what is not placed yet can
// still go wherever room comes first, keeps its order among organizations, and is lost with no replica.

import type { Owner } from '../../core/generation.ts'
import { costOf, standardPriority, type Priority } from '../../core/tier.ts'
import type { Clock } from '../../lib/clock.ts'
import { VirtualCounters } from '../fair-queue.ts'
import { blockTokens, type BlockChain } from './block-index.ts'
import { Chooser, isGivenUp, type Candidate, type Choice } from './choose.ts'
import type { Computed, Prefill, ReplicaLoad } from './replica-load.ts'

export type PoolRequest = {
  readonly owner: Owner
  readonly tokens: number
  readonly chain: BlockChain
  /** The ids of replicas that it must not have. */
  readonly excluded: ReadonlySet<string>
}

/** A request on its replica. */
export type Placement = {
  readonly replica: ReplicaLoad
  /** Why it came there, for the operator. */
  readonly reason: {
    readonly candidates: number
    readonly matchedTokens: number
    readonly outstandingTokens: number
    readonly heldMs: number
  }
  /**
   * Its prompt is computed; the replica says how much of it was there already, null where it does not say as yet. How long
   * that took is not known where it is heard of only later. A second call changes nothing.
   */
  prefilled(cachedTokens: number | null, isTimed?: boolean): void
  /** The replica says how much of its prompt was there already, which some do only at the end. */
  held(cachedTokens: number): void
  /** It is over. A second call changes nothing. */
  end(outputTokens: number): void
}

type Waiting = Candidate & {
  readonly owner: Owner
  readonly placed: PromiseWithResolvers<Placement>
}

/** A request that waits at another gateway. */
export type WaitingElsewhere = Pick<Candidate, 'tokens' | 'chain' | 'organizationId' | 'arrivedMs' | 'creditMs'>

const nothing: ReadonlySet<string> = new Set()
/** Among so many requests that have waited longest of those whose turn it is, the one that fits best is chosen. */
const windowMax = 64
/** Organizations that have been served about alike are not told apart: what fits a replica may come first. */
const slackTokens = 4_096
const outputWeight = 4
/** Among requests of one turn one of a better class goes first as if it had come so much earlier. */
const creditMs: Readonly<Record<Priority, number>> = { interactive: 1_000, standard: 0, batch: -5_000 }

export type PoolQueueOptions = {
  readonly clock: Clock
  replicas(): readonly ReplicaLoad[]
  /** Is told of everything that this queue places; other gateways hear of it so. */
  readonly observer?: PlacementObserver
}

export type PlacementObserver = {
  /** A request has no replica yet. */
  waits(request: WaitingElsewhere): void
  /** A request is placed, whether it had to wait or not. */
  placed(replica: ReplicaLoad, request: WaitingElsewhere): void
  /** A request that waited does so no more, and was placed nowhere. */
  left(request: WaitingElsewhere): void
  computed(replica: ReplicaLoad, computed: Computed): void
  ended(replica: ReplicaLoad): void
}

export class PoolQueue {
  readonly #options: PoolQueueOptions
  readonly #counters = new VirtualCounters()
  readonly #chooser = new Chooser()
  /** In the order of arrival. */
  readonly #waiting = new Set<Waiting>()
  /** Those of other gateways, which place them. */
  readonly #elsewhere = new Set<Candidate>()
  #cancelLook = () => {}
  #isLooking = false

  constructor(options: PoolQueueOptions) {
    this.#options = options
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Resolves when the request has a replica. Rejects with the signal's reason where it leaves before. */
  async place({ owner, tokens, chain, excluded }: PoolRequest, signal: AbortSignal): Promise<Placement> {
    signal.throwIfAborted()
    const request: Waiting = {
      owner,
      organizationId: owner.organizationId,
      tokens,
      chain,
      excluded,
      arrivedMs: this.#options.clock.monotonicMs(),
      creditMs: creditMs[owner.priority ?? standardPriority],
      held: null,
      placed: Promise.withResolvers(),
    }
    const leave = () => this.#leave(request, signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    this.#waiting.add(request)
    this.#counters.arrive(owner.organizationId)
    this.changed()
    if (this.#waiting.has(request)) this.#options.observer?.waits(request)
    try {
      return await request.placed.promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** A replica may have room now. */
  changed(): void {
    // What is placed here may change what it is called by.
    if (this.#isLooking) return
    this.#isLooking = true
    this.#cancelLook()
    this.#cancelLook = () => {}
    try {
      this.#placeAll()
    } finally {
      this.#isLooking = false
    }
  }

  /** A request waits at another gateway. Returns the way to tell that it does so no more. */
  waitsElsewhere(request: WaitingElsewhere): () => void {
    const candidate = { ...request, excluded: nothing, held: null, elsewhere: { leftSinceMs: null } }
    this.#elsewhere.add(candidate)
    return () => this.#elsewhere.delete(candidate)
  }

  /** Tells those that can no longer be placed anywhere, by the replicas that they must not have. */
  refuseWhere(isHopeless: (excluded: ReadonlySet<string>) => boolean, toError: () => Error): void {
    for (const request of this.#waiting) if (isHopeless(request.excluded)) this.#leave(request, toError())
  }

  close(): void {
    this.#cancelLook()
  }

  #placeAll(): void {
    const { clock, replicas } = this.#options
    while (this.#waiting.size > 0) {
      const nowMs = clock.monotonicMs()
      const { choice, lookAgainMs } = this.#chooser.choose(this.#inTurn(nowMs), replicas(), nowMs)
      if (choice !== null) {
        this.#start(choice as Choice<Waiting>, nowMs)
        continue
      }
      if (lookAgainMs !== null) this.#cancelLook = clock.after(Math.max(1, lookAgainMs - nowMs), () => this.changed())
      return
    }
  }

  /**
   * The requests of the organizations that have been served least, in the order of their arrival. Those that wait here are
   * among them however many wait elsewhere: what another gateway cannot place must not keep this one from its own.
   */
  #inTurn(nowMs: number): Candidate[] {
    const near = this.#counters.near(slackTokens)
    const found: Candidate[] = []
    for (const request of this.#waiting) {
      if (!near.has(request.organizationId)) continue
      found.push(request)
      if (found.length === windowMax) break
    }
    if (this.#elsewhere.size === 0) return found
    const others: Candidate[] = []
    for (const request of this.#elsewhere) {
      const { organizationId } = request
      // An organization that waits here as well is in turn at both or at neither.
      const isInTurn = near.has(organizationId) || !this.#counters.isWaiting(organizationId)
      if (isInTurn && !isGivenUp(request, nowMs)) others.push(request)
    }
    return [...found, ...others.toSorted(byArrival).slice(0, windowMax)].toSorted(byArrival)
  }

  #start({ request, replica, matchedTokens, candidates }: Choice<Waiting>, nowMs: number): void {
    const { organizationId, chain, tokens, owner } = request
    const reason = {
      candidates,
      matchedTokens,
      outstandingTokens: replica.outstanding,
      heldMs: Math.round(nowMs - request.arrivedMs),
    }
    const expected = tokens - matchedTokens
    this.#counters.advance((id) => id === organizationId)
    this.#remove(request)
    this.#counters.charge(organizationId, expected * costOf[owner.priority ?? standardPriority])
    const prefill = replica.begin(expected)
    replica.index.add(chain)
    this.#options.observer?.placed(replica, request)
    request.placed.resolve(this.#placement({ replica, reason, tokens, owner, prefill }))
  }

  #placement(placed: Placed): Placement {
    const { replica, reason, tokens, owner, prefill } = placed
    let isPrefilled = false
    let isHeldKnown = false
    let isOver = false
    const held = (cachedTokens: number) => {
      if (isHeldKnown) return
      isHeldKnown = true
      replica.cached(tokens, cachedTokens)
      if (cachedTokens + blockTokens < reason.matchedTokens) replica.index.forgetOldest()
    }
    const prefilled = (cachedTokens: number | null, isMeasured: boolean) => {
      isPrefilled = true
      const computed = tokens - (cachedTokens ?? reason.matchedTokens)
      const done = replica.prefilled(prefill, isMeasured ? computed : null)
      this.#options.observer?.computed(replica, done)
      if (cachedTokens !== null) held(cachedTokens)
    }
    return {
      replica,
      reason,
      held,
      prefilled: (cachedTokens, isTimed = true) => {
        if (isPrefilled) return
        prefilled(cachedTokens, isTimed)
        this.changed()
      },
      end: (outputTokens) => {
        if (isOver) return
        isOver = true
        if (!isPrefilled) prefilled(null, false)
        replica.end()
        this.#options.observer?.ended(replica)
        const { organizationId, priority = standardPriority } = owner
        this.#counters.charge(organizationId, outputTokens * outputWeight * costOf[priority])
        this.changed()
      },
    }
  }

  #leave(request: Waiting, reason: unknown): void {
    if (!this.#waiting.has(request)) return
    this.#remove(request)
    this.#options.observer?.left(request)
    request.placed.reject(reason instanceof Error ? reason : new Error('The request has left.'))
    this.changed()
  }

  #remove(request: Waiting): void {
    const { organizationId } = request
    this.#waiting.delete(request)
    for (const other of this.#waiting) if (other.organizationId === organizationId) return
    this.#counters.leave(organizationId)
  }
}

function byArrival(a: Candidate, b: Candidate): number {
  return a.arrivedMs - b.arrivedMs
}

type Placed = Pick<Placement, 'replica' | 'reason'> & {
  readonly tokens: number
  readonly owner: Owner
  readonly prefill: Prefill
}
