import { type ModelId, modelIds } from '../core/model.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import { BudgetAccount } from './budgets/budget-account.ts'
import type { Amounts } from './budgets/amounts.ts'
import { OpenRequests } from './budgets/open-requests.ts'
import { allowancesFor, type BookParts, type Closable, type LimitEntry } from './limit-entry.ts'
import type { Budget, Limit, LimitScope, LimitSettings, TierLimit, Tiers } from './settings/setting.ts'
import type { OrganizationId } from '../core/ids.ts'
import { firstTier, isEnforced } from '../core/tier.ts'

/** The limits and budgets in force, found by whom they apply to. What is counted survives a change of its limit. */
export class LimitBook {
  readonly #parts: BookParts
  readonly #tiers: TierEntries
  /** A principal asks several times for each request; what it is told is true until the next change. */
  #found = new WeakMap<ApiKeyPrincipal, Map<ModelId | null, readonly LimitEntry[]>>()
  /** The requests under way, with what they have reserved of every budget that applies to them. */
  readonly requests: OpenRequests
  #entries = new Map<string, LimitEntry>()
  #accounts = new Map<string, BudgetAccount>()
  #entriesBySubject = new Map<string, LimitEntry[]>()
  #accountsBySubject = new Map<string, BudgetAccount[]>()

  constructor(parts: BookParts) {
    this.#parts = parts
    this.#tiers = new TierEntries(parts)
    this.requests = new OpenRequests(parts.clock)
  }

  /** All limits a request is subject to; without a model those for all models. */
  limitsOf(principal: ApiKeyPrincipal, model: string | null): readonly LimitEntry[] {
    const byModel = this.#found.get(principal) ?? new Map<ModelId | null, readonly LimitEntry[]>()
    // One that is not known has no limits of its own, and clients may think of any number.
    const name = modelIds.find((id) => id === model) ?? null
    const known = byModel.get(name)
    if (known !== undefined) return known
    const found = this.#findLimits(principal, name)
    this.#found.set(principal, byModel.set(name, found))
    return found
  }

  #findLimits(principal: ApiKeyPrincipal, model: ModelId | null): readonly LimitEntry[] {
    const all = subjectsOf(principal).flatMap((subject) => this.#entriesBySubject.get(subject) ?? [])
    const entries = all.filter(({ limit }) => limit.model === '*' || limit.model === model)
    return [...entries, ...this.#tiers.of(principal.organizationId, model, entries)]
  }

  budgetsOf(principal: ApiKeyPrincipal): BudgetAccount[] {
    return subjectsOf(principal).flatMap((subject) => this.#accountsBySubject.get(subject) ?? [])
  }

  /** What this gateway's requests have reserved of a budget; null for one that is not in force. */
  reservedOf(budgetId: string): Amounts | null {
    return this.#accounts.get(budgetId)?.reserved() ?? null
  }

  /** What is spent of a budget, by all gateways as far as this one knows; null for one that is not in force. */
  spentOf(budgetId: string): Amounts | null {
    return this.#accounts.get(budgetId)?.spent() ?? null
  }

  /** Returns what is no longer in force, to be closed. */
  update({ limits, budgets, tiers }: LimitSettings): Closable[] {
    this.#found = new WeakMap()
    const old = this.#tiers.update(tiers)
    const entries = limits.map((limit) => {
      const before = this.#entries.get(limit.id)?.allowances
      return { limit, allowances: allowancesFor(limit, before, this.#parts.openAllowance, old) }
    })
    const ids = new Set(limits.map(({ id }) => id))
    for (const [id, entry] of this.#entries) {
      if (!ids.has(id)) old.push(...entry.allowances.values())
    }
    const accounts = budgets.map((budget) => {
      const account = this.#accounts.get(budget.id) ?? this.#accountOf(budget)
      account.change(budget)
      return account
    })
    const kept = new Set(accounts)
    old.push(...[...this.#accounts.values()].filter((account) => !kept.has(account)))
    this.#entries = new Map(entries.map((entry) => [entry.limit.id, entry]))
    this.#accounts = new Map(accounts.map((account) => [account.budget.id, account]))
    this.#entriesBySubject = Map.groupBy(entries, ({ limit }) => subjectKey(limit))
    this.#accountsBySubject = Map.groupBy(accounts, ({ budget }) => subjectKey(budget))
    return old
  }

  #accountOf(budget: Budget): BudgetAccount {
    const subject = subjectKey(budget)
    const applies = ({ principal }: { readonly principal: ApiKeyPrincipal }) => subjectsOf(principal).includes(subject)
    return new BudgetAccount(budget, this.#parts, {
      underWay: () => [...this.requests.underWay()].filter(applies),
      justSettled: () => this.requests.justSettled().filter(applies),
    })
  }

  async close(): Promise<void> {
    const entries = [...this.#entries.values(), ...this.#tiers.all()]
    const allowances = entries.flatMap((entry) => [...entry.allowances.values()])
    await Promise.all([...allowances, ...this.#accounts.values()].map((open) => open.close()))
  }
}

function subjectKey({ organizationId, subject }: Pick<LimitScope, 'organizationId' | 'subject'>): string {
  return `${organizationId} ${subject.kind} ${subject.id}`
}

/** A principal never changes, and one object of it serves many requests, each of which asks several times. */
const knownSubjects = new WeakMap<ApiKeyPrincipal, readonly string[]>()

/** A key that replaced another goes on under the first one's limits. */
function subjectsOf(principal: ApiKeyPrincipal): readonly string[] {
  const known = knownSubjects.get(principal)
  if (known !== undefined) return known
  const { organizationId, projectId, apiKeyId, quotaId } = principal
  const subjects = [
    subjectKey({ organizationId, subject: { kind: 'api-key', id: quotaId ?? apiKeyId } }),
    subjectKey({ organizationId, subject: { kind: 'project', id: projectId } }),
    subjectKey({ organizationId, subject: { kind: 'organization', id: organizationId } }),
  ]
  knownSubjects.set(principal, subjects)
  return subjects
}

/**
 * The limits that organizations have by their tiers, made for an organization when it first asks for something.
 *
 * What an organization has used counts on when it comes into another tier, or its tier is changed.
 */
class TierEntries {
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
