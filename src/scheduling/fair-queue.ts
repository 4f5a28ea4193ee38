import type { Tenant } from '../core/generation.ts'
import { VirtualCounters } from './virtual-counters.ts'

/** One organization's waiting requests, a line for each of its keys. */
type Lines<Entry> = {
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
export class FairQueue<Entry extends { readonly tenant: Tenant }> {
  readonly #counters: VirtualCounters
  readonly #organizations: Map<string, Lines<Entry>>

  constructor(original: FairQueue<Entry> | null = null) {
    this.#counters = new VirtualCounters(original === null ? null : original.#counters)
    const lines = original === null ? [] : [...original.#organizations]
    this.#organizations = new Map(lines.map(([id, own]) => [id, copyLines(own)]))
  }

  push(entry: Entry): void {
    const { organizationId, apiKeyId } = entry.tenant
    const lines = this.#linesOf(organizationId)
    const line = lines.byKey.get(apiKeyId)
    if (line === undefined) lines.byKey.set(apiKeyId, [entry])
    else line.push(entry)
    lines.counters.arrive(apiKeyId)
    this.#counters.arrive(organizationId)
  }

  /** Takes out an entry that gave up waiting. */
  remove(entry: Entry): void {
    const lines = this.#organizations.get(entry.tenant.organizationId)
    const line = lines?.byKey.get(entry.tenant.apiKeyId)
    const index = line?.indexOf(entry) ?? -1
    if (lines === undefined || line === undefined || index === -1) return
    line.splice(index, 1)
    this.#tidy(entry.tenant, lines, line)
  }

  /** The next entry of a tenant that may begin, which is under way from now on; null when there is none. */
  take(mayBegin: (tenant: Tenant) => boolean = () => true): Entry | null {
    const mayKey = (organizationId: string) => (apiKeyId: string) => mayBegin({ organizationId, apiKeyId })
    const organizationId = this.#counters.advance((id) =>
      [...(this.#organizations.get(id)?.byKey.keys() ?? [])].some(mayKey(id)),
    )
    if (organizationId === null) return null
    const lines = this.#organizations.get(organizationId)
    const apiKeyId = lines?.counters.advance(mayKey(organizationId)) ?? null
    const line = apiKeyId === null ? undefined : lines?.byKey.get(apiKeyId)
    const entry = line?.shift()
    if (lines === undefined || line === undefined || entry === undefined) return null
    lines.underWay += 1
    this.#tidy(entry.tenant, lines, line)
    return entry
  }

  /** Counts what one who is under way was served; a negative cost takes back what was charged too much. */
  charge({ organizationId, apiKeyId }: Tenant, cost: number): void {
    this.#counters.charge(organizationId, cost)
    this.#organizations.get(organizationId)?.counters.charge(apiKeyId, cost)
  }

  /** An entry that was taken is over. */
  end({ organizationId }: Tenant): void {
    const lines = this.#organizations.get(organizationId)
    if (lines === undefined) return
    lines.underWay -= 1
    this.#forgetIdle(organizationId, lines)
  }

  /** The first so many entries in the order in which their turns would come if they cost what is expected of them. */
  upcoming(count: number, expectedCost: (entry: Entry) => number): Entry[] {
    const rest = new FairQueue(this)
    const entries: Entry[] = []
    while (entries.length < count) {
      const entry = rest.take()
      if (entry === null) break
      entries.push(entry)
      rest.charge(entry.tenant, expectedCost(entry))
    }
    return entries
  }

  #linesOf(organizationId: string): Lines<Entry> {
    const known = this.#organizations.get(organizationId)
    if (known !== undefined) return known
    const lines = { counters: new VirtualCounters(), byKey: new Map<string, Entry[]>(), underWay: 0 }
    this.#organizations.set(organizationId, lines)
    return lines
  }

  #tidy({ organizationId, apiKeyId }: Tenant, lines: Lines<Entry>, line: readonly Entry[]): void {
    if (line.length > 0) return
    lines.byKey.delete(apiKeyId)
    lines.counters.leave(apiKeyId)
    if (lines.byKey.size > 0) return
    this.#counters.leave(organizationId)
    this.#forgetIdle(organizationId, lines)
  }

  /** Among the keys of an organization that wants nothing there is nothing to compare. */
  #forgetIdle(organizationId: string, { byKey, underWay }: Lines<Entry>): void {
    if (byKey.size === 0 && underWay === 0) this.#organizations.delete(organizationId)
  }
}

function copyLines<Entry>({ counters, byKey, underWay }: Lines<Entry>): Lines<Entry> {
  const copied = new Map([...byKey].map(([apiKeyId, line]) => [apiKeyId, [...line]]))
  return { counters: new VirtualCounters(counters), byKey: copied, underWay }
}
