import { blockTokens, type BlockChain } from './block-index.ts'
import type { ReplicaLoad } from './replica-load.ts'

/** A request that waits for a replica, and what is known of where its prompt lies. */
export type Candidate = {
  readonly tokens: number
  readonly chain: BlockChain
  readonly organizationId: string
  readonly arrivedMs: number
  /** Replicas that failed it, or that it must not have. */
  readonly excluded: ReadonlySet<string>
  /** The blocks that each replica holds of it, by the replica's id, with the index's version at which that was found. */
  readonly depths: Map<string, { version: number; blocks: number }>
  /** The replicas' ranks for a prompt that begins like this one and is held nowhere; null before they were needed. */
  coldRanks: Map<string, number> | null
  /** When it could have been computed anew somewhere; null before. */
  offeredMs: number | null
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

/** A request whose prompt is warm elsewhere waits for that as long as it has waited already, and this much more. */
const holdMs = 20
/** Gateways that know nothing of each other send prompts that begin alike to the same replica. */
const coldTokens = 512

/**
 * Chooses which waiting request is given to which open replica: the pair that costs least.
 *
 * A pair costs the time until its first token (what is not cached, behind what the replica has yet to compute), and what is
 * computed there although another replica holds it. Who has waited has credit for that. A prompt that is held
 * nowhere goes to the first open replica in an order of its own.
 */
export function choose<Request extends Candidate>(
  requests: Iterable<Request>,
  replicas: readonly ReplicaLoad[],
  nowMs: number,
): Chosen<Request> {
  const open = replicas.filter((replica) => replica.isOpen)
  let best: Choice<Request> | null = null
  let bestCost = Infinity
  let lookAgainMs: number | null = null
  if (open.length === 0) return { choice: null, lookAgainMs }
  for (const request of requests) {
    const allowed = request.excluded.size === 0 ? open : open.filter(({ id }) => !request.excluded.has(id))
    if (allowed.length === 0) continue
    const warmest = warmestTokens(request, replicas)
    const found = cheapestFor(request, warmest === 0 ? inColdOrder(request, allowed) : allowed, warmest)
    const heldUntilMs = holdUntil(request, found.wasteMs, nowMs)
    if (heldUntilMs > nowMs) {
      lookAgainMs = Math.min(lookAgainMs ?? Infinity, heldUntilMs)
      continue
    }
    const cost = found.cost - (nowMs - request.arrivedMs)
    if (cost >= bestCost) continue
    bestCost = cost
    best = { request, replica: found.replica, matchedTokens: found.matched, candidates: allowed.length }
  }
  return { choice: best, lookAgainMs }
}

type Found = {
  readonly replica: ReplicaLoad
  readonly matched: number
  readonly cost: number
  readonly wasteMs: number
}

function cheapestFor(request: Candidate, [first, ...others]: readonly ReplicaLoad[], warmest: number): Found {
  if (first === undefined) throw new Error('There is no replica to choose from.')
  const found = costOf(request, first, warmest)
  // For a prompt that is held nowhere the order decides.
  if (warmest === 0) return found
  return others.reduce((least, replica) => {
    const other = costOf(request, replica, warmest)
    return other.cost < least.cost ? other : least
  }, found)
}

function costOf(request: Candidate, replica: ReplicaLoad, warmest: number): Found {
  const matched = matchedTokens(request, replica)
  const wasteMs = replica.msFor(Math.max(0, warmest - matched))
  const cost = replica.msFor(request.tokens - matched + replica.outstanding) + wasteMs
  return { replica, matched, cost, wasteMs }
}

/** Until when a request is kept for a replica that holds its prompt; never longer than it takes to compute it anew. */
function holdUntil(request: Candidate, wasteMs: number, nowMs: number): number {
  if (wasteMs <= 0) return nowMs
  request.offeredMs ??= nowMs
  const waited = request.offeredMs - request.arrivedMs
  return request.offeredMs + Math.min(wasteMs, waited + holdMs)
}

/** Of a replica that may be given nothing more it does not count what it holds: waiting for it would be for nothing. */
function warmestTokens(request: Candidate, replicas: readonly ReplicaLoad[]): number {
  let most = 0
  for (const replica of replicas)
    if (replica.share > 0 && !request.excluded.has(replica.id)) most = Math.max(most, matchedTokens(request, replica))
  return most
}

/** The tokens of a prompt that a replica is believed to hold. */
export function matchedTokens(request: Candidate, { id, index }: ReplicaLoad): number {
  const known = request.depths.get(id)
  if (known !== undefined && known.version === index.version) return known.blocks * blockTokens
  const blocks = index.depth(request.chain)
  if (known === undefined) request.depths.set(id, { version: index.version, blocks })
  else Object.assign(known, { version: index.version, blocks })
  return blocks * blockTokens
}

/** Rendezvous hashing: each replica has a rank for each beginning of a prompt, and one that leaves moves nobody else's. */
function inColdOrder(request: Candidate, replicas: readonly ReplicaLoad[]): readonly ReplicaLoad[] {
  const ranks = (request.coldRanks ??= new Map())
  let first: ReplicaLoad | null = null
  let highest = -1
  for (const replica of replicas) {
    const rank = ranks.get(replica.id) ?? hashText(beginningOf(request) + replica.id)
    ranks.set(replica.id, rank)
    if (rank > highest) [first, highest] = [replica, rank]
  }
  return first === null ? replicas : [first]
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
