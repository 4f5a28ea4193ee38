import { blockTokens, type BlockChain } from './block-index.ts'
import type { ReplicaLoad } from './replica-load.ts'

/** A request that waits for a replica, and what is known of where its prompt lies. */
export type Candidate = {
  readonly tokens: number
  readonly chain: BlockChain
  readonly organizationId: string
  readonly arrivedMs: number
  /** It goes before others as if it had come so much earlier. */
  readonly creditMs: number
  /** Replicas that failed it, or that it must not have. */
  readonly excluded: ReadonlySet<string>
  /** What each replica holds of it; null before that was looked for. */
  held: HeldBlocks | null
  /** It waits at another gateway, which will place it: what would be chosen for it is left to it. Absent for one that waits here. */
  readonly elsewhere?: Elsewhere
}

/** How another gateway's request was left what would have been chosen for it. */
type Elsewhere = {
  /** Since when; null before. */
  leftSinceMs: number | null
}

/** What the replicas of a fleet hold of one prompt, in their order. */
type HeldBlocks = {
  readonly fleet: Fleet
  /** Blocks, and the version of the replica's index at which they were counted. */
  readonly blocks: Int32Array
  readonly versions: Int32Array
  /** The replicas' ranks for a prompt that begins like this one; null before they were needed. */
  ranks: Float64Array | null
}

export type Choice<Request extends Candidate> = {
  readonly request: Request
  readonly replica: ReplicaLoad
  readonly matchedTokens: number
  /** Open replicas among which there was a choice. */
  readonly candidates: number
}

export type Chosen<Request extends Candidate> = {
  readonly choice: Choice<Request> | null
  /** When to look again although nothing has changed; null where that would change nothing. */
  readonly lookAgainMs: number | null
}

/** Gateways that know nothing of each other send prompts that begin alike to the same replica. */
const coldTokens = 512
/** Another gateway that has not placed its request within this time will not: news of that would have come. */
const leaveMsMax = 200
/** Of a beginning shorter than this it is no loss to compute it twice. */
const sharedBlocksMin = 8
/** Replicas that are free at about the same time are equally good for a prompt that none of them holds. */
const coldSlackMs = 50

/**
 * Chooses which waiting request is given to which open replica.
 *
 * For each request, in its turn, it finds the replica where the first token is expected soonest: behind what that has yet
 * to compute, what was promised it for requests before this one, and what it does not hold of the prompt. Where that is a
 * replica without room the request waits for it, and goes elsewhere once it has waited as long as it would
 * gain. Of the others the one goes first whose first token is soonest, with credit for how long it has waited. A prompt that
 * is held nowhere goes to the first of the replicas that are about equally free, in an order of its own.
 */
export class Chooser {
  #fleet = new Fleet([])
  /** Since when some replica has had room that nobody wanted; null while all are full. */
  #spareSinceMs: number | null = null

  choose<Request extends Candidate>(
    requests: readonly Request[],
    replicas: readonly ReplicaLoad[],
    nowMs: number,
  ): Chosen<Request> {
    if (!this.#fleet.isOf(replicas)) this.#fleet = new Fleet(replicas)
    const left = new Map<Request, number>()
    for (;;) {
      const found = this.#chooseOne(requests, nowMs, left)
      const elsewhere = found.choice?.request.elsewhere
      if (found.choice === null || elsewhere === undefined) return found
      elsewhere.leftSinceMs ??= nowMs
      left.set(found.choice.request, found.at)
    }
  }

  #chooseOne<Request extends Candidate>(
    requests: readonly Request[],
    nowMs: number,
    left: ReadonlyMap<Request, number>,
  ): Chosen<Request> & { readonly at: number } {
    const fleet = this.#fleet
    const candidates = fleet.look(nowMs, left)
    if (candidates === 0) {
      this.#spareSinceMs = null
      return { choice: null, lookAgainMs: untilGivenUp(left, nowMs), at: -1 }
    }
    const spareSinceMs = this.#spareSinceMs ?? nowMs
    let best: { readonly request: Request; readonly at: number } | null = null
    let bestCost = Infinity
    let lookAgainMs = untilGivenUp(left, nowMs)
    for (const request of requests) {
      if (left.has(request) || isGivenUp(request, nowMs)) continue
      const found = fleet.find(request)
      if (found === null) continue
      const { at, openAt, gainMs, openMs, heldBlocks } = found
      // Another gateway is about to have computed the beginning of this one: where, it will say.
      if (sharesMore(request.chain, left.keys(), heldBlocks)) continue
      const heldUntilMs = Math.max(request.arrivedMs, spareSinceMs) + gainMs
      if (at !== openAt && heldUntilMs > nowMs) {
        fleet.promise(at, request)
        lookAgainMs = Math.min(lookAgainMs ?? Infinity, heldUntilMs)
        continue
      }
      const cost = openMs - (nowMs - request.arrivedMs) - request.creditMs
      if (cost >= bestCost) continue
      bestCost = cost
      best = { request, at: openAt }
    }
    if (best === null) {
      this.#spareSinceMs = spareSinceMs
      return { choice: null, lookAgainMs, at: -1 }
    }
    const { request, at } = best
    return { choice: { ...fleet.describe(request, at), request, candidates }, lookAgainMs, at }
  }
}

/** Whether what was left to another gateway's request was left to it for so long that it is looked at no more. */
export function isGivenUp({ elsewhere }: Candidate, nowMs: number): boolean {
  const leftSinceMs = elsewhere?.leftSinceMs ?? null
  return leftSinceMs !== null && nowMs - leftSinceMs >= leaveMsMax
}

/** Whether one of the requests begins as a prompt does for longer than what is held of it. */
function sharesMore(chain: BlockChain, requests: Iterable<Candidate>, heldBlocks: number): boolean {
  const block = chain[heldBlocks + sharedBlocksMin - 1]
  if (block === undefined) return false
  // A block stands for everything before it.
  for (const { chain: other } of requests) if (other[heldBlocks + sharedBlocksMin - 1] === block) return true
  return false
}

/** When the first of the requests that something was left to will be given up; null where nothing was. */
function untilGivenUp(left: ReadonlyMap<Candidate, number>, nowMs: number): number | null {
  let untilMs: number | null = null
  for (const { elsewhere } of left.keys())
    untilMs = Math.min(untilMs ?? Infinity, (elsewhere?.leftSinceMs ?? nowMs) + leaveMsMax)
  return untilMs
}

type Found = {
  /** Where the first token is soonest, and where among the replicas that have room. */
  readonly at: number
  readonly openAt: number
  readonly openMs: number
  /** How much sooner it is at the first. */
  readonly gainMs: number
  /** The most of its blocks that a replica holds. */
  readonly heldBlocks: number
}

/** The replicas as they are when a choice is made, as lists of numbers: each is looked at for each request that waits. */
class Fleet {
  readonly #replicas: readonly ReplicaLoad[]
  /** When each could begin with another prompt, by what it was given and promised; endless where it may be given nothing. */
  readonly #startMs: Float64Array
  readonly #msPerToken: Float64Array
  readonly #isOpen: Uint8Array
  /** Tokens that each may still be given. */
  readonly #roomTokens: Float64Array

  constructor(replicas: readonly ReplicaLoad[]) {
    this.#replicas = [...replicas]
    this.#startMs = new Float64Array(replicas.length)
    this.#msPerToken = new Float64Array(replicas.length)
    this.#isOpen = new Uint8Array(replicas.length)
    this.#roomTokens = new Float64Array(replicas.length)
  }

  isOf(replicas: readonly ReplicaLoad[]): boolean {
    return replicas.length === this.#replicas.length && replicas.every((replica, at) => replica === this.#replicas[at])
  }

  /** Notes how the replicas are when others have placed what was left to them. Returns how many have room. */
  look(nowMs: number, left: ReadonlyMap<Candidate, number>): number {
    let fastestMs = Infinity
    for (const { share, tokensPerSecond } of this.#replicas)
      if (share > 0 && tokensPerSecond !== null) fastestMs = Math.min(fastestMs, 1_000 / tokensPerSecond)
    for (const [at, replica] of this.#replicas.entries()) {
      const isOpen = replica.isOpen
      this.#isOpen[at] = isOpen ? 1 : 0
      this.#roomTokens[at] = replica.room - replica.outstanding
      this.#startMs[at] = replica.share > 0 ? replica.startMs(nowMs) : Infinity
      this.#msPerToken[at] = replica.believedMsPerToken(fastestMs, nowMs)
    }
    for (const [request, at] of left) this.#leave(at, request)
    return this.#isOpen.reduce((open, isOpen) => open + isOpen, 0)
  }

  /** Null for a request that no replica with room may have. */
  find(request: Candidate): Found | null {
    const held = this.#hold(request)
    let [at, leastMs] = [-1, Infinity]
    let [openAt, openMs] = [-1, Infinity]
    let most = 0
    for (let index = 0; index < this.#startMs.length; index++) {
      if (this.#mayNot(request, index)) continue
      const firstMs = this.#firstTokenMs(request, held, index)
      most = Math.max(most, held.blocks[index] ?? 0)
      if (firstMs < leastMs) [at, leastMs] = [index, firstMs]
      if (firstMs < openMs && this.#isOpen[index] === 1) [openAt, openMs] = [index, firstMs]
    }
    if (openAt === -1) return null
    if (most === 0 && at === openAt) at = openAt = this.#firstCold(request, held, openMs + coldSlackMs)
    return { at, openAt, openMs, gainMs: openMs - leastMs, heldBlocks: most }
  }

  /** A request waits for a replica, which later ones find so much busier. */
  promise(at: number, request: Candidate): void {
    const start = this.#startMs[at]
    if (start !== undefined && request.held !== null) this.#startMs[at] = this.#firstTokenMs(request, request.held, at)
  }

  describe({ held }: Candidate, at: number): { readonly replica: ReplicaLoad; readonly matchedTokens: number } {
    const replica = this.#replicas[at]
    if (replica === undefined) throw new Error('A replica was chosen that is not there.')
    return { replica, matchedTokens: (held?.blocks[at] ?? 0) * blockTokens }
  }

  #leave(at: number, request: Candidate): void {
    const uncached = Math.max(0, request.tokens - (request.held?.blocks[at] ?? 0) * blockTokens)
    this.promise(at, request)
    const room = (this.#roomTokens[at] ?? 0) - uncached
    this.#roomTokens[at] = room
    if (room <= 0) this.#isOpen[at] = 0
  }

  #mayNot({ excluded }: Candidate, at: number): boolean {
    if (this.#startMs[at] === Infinity) return true
    return excluded.size > 0 && excluded.has(this.#replicas[at]?.id ?? '')
  }

  #firstTokenMs({ tokens }: Candidate, { blocks }: HeldBlocks, at: number): number {
    const uncached = Math.max(0, tokens - (blocks[at] ?? 0) * blockTokens)
    return (this.#startMs[at] ?? 0) + uncached * (this.#msPerToken[at] ?? 0)
  }

  /** Rendezvous hashing: each replica has a rank for each beginning of a prompt, and one that leaves moves nobody else's. */
  #firstCold(request: Candidate, held: HeldBlocks, mostMs: number): number {
    held.ranks ??= Float64Array.from(this.#replicas, ({ id }) => hashText(beginningOf(request) + id))
    let [first, highest] = [-1, -1]
    for (let at = 0; at < this.#startMs.length; at++) {
      if (this.#isOpen[at] === 0 || this.#mayNot(request, at)) continue
      const rank = held.ranks[at] ?? 0
      if (rank > highest && this.#firstTokenMs(request, held, at) <= mostMs) [first, highest] = [at, rank]
    }
    return first
  }

  /** What was found before is looked for again only where a replica's index has changed since. */
  #hold(request: Candidate): HeldBlocks {
    const { length } = this.#replicas
    if (request.held?.fleet !== this) {
      const versions = new Int32Array(length).fill(-1)
      request.held = { fleet: this, blocks: new Int32Array(length), versions, ranks: null }
    }
    const { held } = request
    for (let at = 0; at < length; at++) {
      const index = this.#replicas[at]?.index
      if (index === undefined || held.versions[at] === index.version) continue
      held.versions[at] = index.version
      held.blocks[at] = index.depth(request.chain)
    }
    return held
  }
}

function beginningOf({ chain, organizationId }: Candidate): string {
  const block = Math.min(chain.length, coldTokens / blockTokens) - 1
  return block < 0 ? organizationId : String(chain[block])
}

function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
