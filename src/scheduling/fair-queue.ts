// Fair queueing by virtual token counters (VTC): between organizations, and between the keys of each.

import type { Owner, Usage } from '../core/generation.ts'
import { costOf, standardPriority } from '../core/tier.ts'

/** One organization's waiting requests: each of its keys has a queue. */
type KeyQueues<Entry> = {
  readonly counters: VirtualCounters
  readonly byKey: Map<string, Entry[]>
  /** Entries that were taken and have not ended. */
  underWay: number
}

/**
 * Decides who is next: fairly between organizations, then between the API keys
 * of one, and in the order of arrival within a key.
 *
 * Between two who both wait all the time, what they are charged stays about
 * equal, however many requests each of them sends and however large these are.
 */
export class FairQueue<Entry extends { readonly owner: Owner }> {
  readonly #counters: VirtualCounters
  readonly #organizations: Map<string, KeyQueues<Entry>>

  constructor(original: FairQueue<Entry> | null = null) {
    this.#counters = new VirtualCounters(original === null ? null : original.#counters)
    const queues = original === null ? [] : [...original.#organizations]
    this.#organizations = new Map(queues.map(([id, own]) => [id, copyQueues(own)]))
  }

  push(entry: Entry): void {
    const { organizationId, apiKeyId } = entry.owner
    const queues = this.#queuesOf(organizationId)
    const queue = queues.byKey.get(apiKeyId)
    if (queue === undefined) queues.byKey.set(apiKeyId, [entry])
    else queue.push(entry)
    queues.counters.arrive(apiKeyId)
    this.#counters.arrive(organizationId)
  }

  /** Takes out an entry that gave up waiting. */
  remove(entry: Entry): void {
    const queues = this.#organizations.get(entry.owner.organizationId)
    const queue = queues?.byKey.get(entry.owner.apiKeyId)
    const index = queue?.indexOf(entry) ?? -1
    if (queues === undefined || queue === undefined || index === -1) return
    queue.splice(index, 1)
    this.#tidy(entry.owner, queues, queue)
  }

  /** The next entry of an owner that may begin, which is under way from now on; null when there is none. */
  take(mayBegin: (owner: Owner) => boolean = () => true): Entry | null {
    const mayKey = (organizationId: string) => (apiKeyId: string) => mayBegin({ organizationId, apiKeyId })
    const organizationId = this.#counters.advance((id) =>
      [...(this.#organizations.get(id)?.byKey.keys() ?? [])].some(mayKey(id)),
    )
    if (organizationId === null) return null
    const queues = this.#organizations.get(organizationId)
    const apiKeyId = queues?.counters.advance(mayKey(organizationId)) ?? null
    const queue = apiKeyId === null ? undefined : queues?.byKey.get(apiKeyId)
    const entry = queue?.shift()
    if (queues === undefined || queue === undefined || entry === undefined) return null
    queues.underWay += 1
    this.#tidy(entry.owner, queues, queue)
    return entry
  }

  /** Counts what one who is under way was served; a negative cost takes back what was charged too much. */
  charge({ organizationId, apiKeyId, priority = standardPriority }: Owner, cost: number): void {
    const counted = cost * costOf[priority]
    this.#counters.charge(organizationId, counted)
    this.#organizations.get(organizationId)?.counters.charge(apiKeyId, counted)
  }

  /** An entry that was taken is over. */
  end({ organizationId }: Owner): void {
    const queues = this.#organizations.get(organizationId)
    if (queues === undefined) return
    queues.underWay -= 1
    this.#forgetIdle(organizationId, queues)
  }

  /** Lists the first entries, in the order in which their turns would come if they cost what is expected of them. */
  upcoming(count: number, expectedCost: (entry: Entry) => number): Entry[] {
    const rest = new FairQueue(this)
    const entries: Entry[] = []
    while (entries.length < count) {
      const entry = rest.take()
      if (entry === null) break
      entries.push(entry)
      rest.charge(entry.owner, expectedCost(entry))
    }
    return entries
  }

  #queuesOf(organizationId: string): KeyQueues<Entry> {
    const known = this.#organizations.get(organizationId)
    if (known !== undefined) return known
    const queues = { counters: new VirtualCounters(), byKey: new Map<string, Entry[]>(), underWay: 0 }
    this.#organizations.set(organizationId, queues)
    return queues
  }

  #tidy({ organizationId, apiKeyId }: Owner, queues: KeyQueues<Entry>, queue: readonly Entry[]): void {
    if (queue.length > 0) return
    queues.byKey.delete(apiKeyId)
    queues.counters.leave(apiKeyId)
    if (queues.byKey.size > 0) return
    this.#counters.leave(organizationId)
    this.#forgetIdle(organizationId, queues)
  }

  /** Among the keys of an organization that wants nothing there is nothing to compare. */
  #forgetIdle(organizationId: string, { byKey, underWay }: KeyQueues<Entry>): void {
    if (byKey.size === 0 && underWay === 0) this.#organizations.delete(organizationId)
  }
}

function copyQueues<Entry>({ counters, byKey, underWay }: KeyQueues<Entry>): KeyQueues<Entry> {
  const copied = new Map([...byKey].map(([apiKeyId, queue]) => [apiKeyId, [...queue]]))
  return { counters: new VirtualCounters(counters), byKey: copied, underWay }
}

/**
 * Counts what each of several claimants has been served, on one scale: whoever has the least is next.
 *
 * They are the virtual token counters of "Fairness in Serving Large Language
 * Models" (Sheng et al., OSDI 2024). One who begins to wait starts at the count
 * at which the last turn was given, so that being idle earns no credit.
 */
export class VirtualCounters {
  readonly #counts: Map<string, number>
  readonly #waiting: Set<string>
  /** The highest count at which anybody's turn has come. */
  #reached: number

  constructor(original: VirtualCounters | null = null) {
    this.#counts = new Map(original === null ? [] : original.#counts)
    this.#waiting = new Set(original === null ? [] : original.#waiting)
    this.#reached = original === null ? 0 : original.#reached
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  isWaiting(id: string): boolean {
    return this.#waiting.has(id)
  }

  /** A claimant waits from now on, if it did not already. */
  arrive(id: string): void {
    if (this.#waiting.has(id)) return
    this.#counts.set(id, Math.max(this.#countOf(id), this.#reached))
    this.#waiting.add(id)
  }

  /** A claimant no longer waits. What it was served beyond the others it is not forgiven by that. */
  leave(id: string): void {
    this.#waiting.delete(id)
  }

  /** Finds whose turn it is among those who may have one; null when there is none. Among equals the longest waiting comes first. */
  advance(may: (id: string) => boolean = () => true): string | null {
    const least = this.#least(may)
    if (least === null) return null
    this.#reached = Math.max(this.#reached, this.#countOf(least))
    // Claimants whom all others have passed would start there anyway.
    for (const [id, count] of this.#counts) {
      if (count <= this.#reached && !this.#waiting.has(id)) this.#counts.delete(id)
    }
    return least
  }

  /** Those who wait and were served no more than so much beyond the one that was served least. */
  near(slack: number): ReadonlySet<string> {
    let least = Infinity
    for (const id of this.#waiting) least = Math.min(least, this.#countOf(id))
    return new Set([...this.#waiting].filter((id) => this.#countOf(id) <= least + slack))
  }

  /** Adds to what a claimant was served; a negative cost takes back what was charged too much. */
  charge(id: string, cost: number): void {
    // Written out, as it is done twice for every event of every answer.
    this.#counts.set(id, (this.#counts.get(id) ?? this.#reached) + cost)
  }

  #countOf(id: string): number {
    return this.#counts.get(id) ?? this.#reached
  }

  #least(may: (id: string) => boolean): string | null {
    let least: string | null = null
    for (const id of this.#waiting)
      if ((least === null || this.#countOf(id) < this.#countOf(least)) && may(id)) least = id
    return least
  }
}

/**
 * An answer's token takes a step of its own where a prompt's are computed by the
 * hundred. Four is the middle of what price lists ask for one over the other.
 */
const outputWeight = 4
/** Held tokens are only brought back and attended to; price lists ask a tenth for that. */
const cacheReadWeight = 0.1

/** What a request takes of an engine, in computed prompt tokens. */
export function serviceCost({ inputUncached, inputCacheWrite, inputCacheRead, output }: Usage): number {
  return inputUncached + inputCacheWrite + inputCacheRead * cacheReadWeight + output * outputWeight
}

/** What it takes to generate so many tokens. */
export function outputCost(tokens: number): number {
  return tokens * outputWeight
}
