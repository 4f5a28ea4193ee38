import type { OrganizationId } from '../core/ids.ts'
import { firstTier, isEnforced } from '../core/tier.ts'
import type { Limit, TierLimit, Tiers } from './settings/setting.ts'
import { allowancesFor, type BookParts, type Closable, type LimitEntry } from './limit-entry.ts'

/**
 * The limits that organizations have by their tiers, made for an organization when it first asks for something.
 *
 * What an organization has used counts on when it comes into another tier, or its tier is changed.
 */
export class TierEntries {
  readonly #parts: BookParts
  #tiers: Tiers = { limits: [], tierOf: new Map() }
  #entries = new Map<OrganizationId, readonly LimitEntry[]>()

  constructor(parts: BookParts) {
    this.#parts = parts
  }

  /** Returns what is no longer in force, to be closed. */
  update(tiers: Tiers): Closable[] {
    if (tiers === this.#tiers) return []
    this.#tiers = tiers
    const old: Closable[] = []
    for (const [id, before] of this.#entries) this.#entries.set(id, this.#open(id, before, old))
    return old
  }

  /** The limits of the tier that no limit set by the installation takes the place of, kind by kind. */
  of(organizationId: OrganizationId, model: string | null, explicit: readonly LimitEntry[]): readonly LimitEntry[] {
    const entries = this.#entriesOf(organizationId).filter(({ limit }) => limit.model === '*' || limit.model === model)
    const winners = explicit.filter(({ limit }) => limit.setBy === 'installation')
    return winners.length === 0 ? entries : entries.map((entry) => withoutKindsOf(entry, winners))
  }

  all(): LimitEntry[] {
    return [...this.#entries.values()].flat()
  }

  #entriesOf(organizationId: OrganizationId): readonly LimitEntry[] {
    const known = this.#entries.get(organizationId)
    if (known !== undefined) return known
    const entries = this.#open(organizationId, [], [])
    this.#entries.set(organizationId, entries)
    return entries
  }

  #open(organizationId: OrganizationId, before: readonly LimitEntry[], old: Closable[]): LimitEntry[] {
    const tier = this.#tiers.tierOf.get(organizationId) ?? firstTier
    const isRefusing = isEnforced(tier)
    const open = isRefusing ? this.#parts.openAllowance : this.#parts.openReportedAllowance
    const limits = this.#tiers.limits.filter((limit) => limit.tier === tier)
    const entries = limits.map((values) => {
      const limit = limitOfTier(organizationId, values, isRefusing)
      const same = before.find((entry) => entry.limit.id === limit.id)
      return { limit, allowances: allowancesFor(limit, same?.allowances, open, old) }
    })
    const ids = new Set(entries.map(({ limit }) => limit.id))
    for (const { limit, allowances } of before) if (!ids.has(limit.id)) old.push(...allowances.values())
    return entries
  }
}

/** A reported allowance is none that can be enforced later, so it has another id. */
function limitOfTier(organizationId: OrganizationId, { tier: _, ...values }: TierLimit, isRefusing: boolean): Limit {
  return {
    ...values,
    id: `${isRefusing ? 'tier' : 'reported'}_${organizationId}_${values.model}`,
    organizationId,
    subject: { kind: 'organization', id: organizationId },
    setBy: 'installation',
    isRequestsEnforced: isRefusing && values.isRequestsEnforced,
  }
}

function withoutKindsOf(entry: LimitEntry, winners: readonly LimitEntry[]): LimitEntry {
  const rivals = winners.filter(({ limit }) => limit.model === '*' || limit.model === entry.limit.model)
  const own = [...entry.allowances].filter(([kind]) => !rivals.some(({ allowances }) => allowances.has(kind)))
  return own.length === entry.allowances.size ? entry : { limit: entry.limit, allowances: new Map(own) }
}
