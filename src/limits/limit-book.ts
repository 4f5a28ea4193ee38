import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { Allowance } from './allowances/allowance.ts'
import { BudgetAccount, type Amounts, type BudgetParts } from './budgets/budget-account.ts'
import type { LimitPlace, Limit } from './settings/limit-settings.ts'
import type { LimitSettings } from './settings/watch-settings.ts'

/** What of a limit is counted. */
export type LimitKind = 'requests' | 'input-tokens' | 'output-tokens' | 'concurrency'
const kinds: readonly LimitKind[] = ['requests', 'input-tokens', 'output-tokens', 'concurrency']

/** A limit with what is left of it. */
export type LimitEntry = { readonly limit: Limit; readonly allowances: ReadonlyMap<LimitKind, Allowance> }

export type BookParts = BudgetParts & {
  openAllowance(kind: LimitKind, allowance: { readonly id: string; readonly limit: number }): Allowance
}

/** The limits and budgets in force, found by whom they apply to. What is counted survives a change of its limit. */
export class LimitBook {
  readonly #parts: BookParts
  #entries = new Map<string, LimitEntry>()
  #accounts = new Map<string, BudgetAccount>()
  #entriesByPlace = new Map<string, LimitEntry[]>()
  #accountsByPlace = new Map<string, BudgetAccount[]>()

  constructor(parts: BookParts) {
    this.#parts = parts
  }

  /** All limits a request is subject to; without a model those for all models. */
  limitsOf(principal: ApiKeyPrincipal, model: string | null): LimitEntry[] {
    const entries = placesOf(principal).flatMap((place) => this.#entriesByPlace.get(place) ?? [])
    return entries.filter(({ limit }) => limit.model === '*' || limit.model === model)
  }

  budgetsOf(principal: ApiKeyPrincipal): BudgetAccount[] {
    return placesOf(principal).flatMap((place) => this.#accountsByPlace.get(place) ?? [])
  }

  /** What this gateway's requests have reserved of a budget; null for one that is not in force. */
  reservedOf(budgetId: string): Amounts | null {
    return this.#accounts.get(budgetId)?.reserved() ?? null
  }

  /** Returns what is no longer in force, to be closed. */
  update({ limits, budgets }: LimitSettings): { close(): Promise<void> }[] {
    const old: { close(): Promise<void> }[] = []
    const entries = limits.map((limit) => this.#entryFor(limit, old))
    for (const [id, entry] of this.#entries) {
      if (!limits.some((limit) => limit.id === id)) old.push(...entry.allowances.values())
    }
    const accounts = budgets.map((budget) => {
      const account = this.#accounts.get(budget.id) ?? new BudgetAccount(budget, this.#parts)
      account.change(budget)
      return account
    })
    old.push(...[...this.#accounts.values()].filter((account) => !accounts.includes(account)))
    this.#entries = new Map(entries.map((entry) => [entry.limit.id, entry]))
    this.#accounts = new Map(accounts.map((account) => [account.budget.id, account]))
    this.#entriesByPlace = Map.groupBy(entries, ({ limit }) => placeKey(limit))
    this.#accountsByPlace = Map.groupBy(accounts, ({ budget }) => placeKey(budget))
    return old
  }

  async close(): Promise<void> {
    const allowances = [...this.#entries.values()].flatMap((entry) => [...entry.allowances.values()])
    await Promise.all([...allowances, ...this.#accounts.values()].map((open) => open.close()))
  }

  #entryFor(limit: Limit, old: { close(): Promise<void> }[]): LimitEntry {
    const before = this.#entries.get(limit.id)?.allowances
    const allowances = new Map<LimitKind, Allowance>()
    for (const kind of kinds) {
      const most = mostOf(limit, kind)
      const existing = before?.get(kind)
      if (most === null) {
        if (existing !== undefined) old.push(existing)
        continue
      }
      if (existing !== undefined && existing.limit !== most) existing.resize(most)
      allowances.set(kind, existing ?? this.#parts.openAllowance(kind, { id: `${limit.id}:${kind}`, limit: most }))
    }
    return { limit, allowances }
  }
}

function mostOf(limit: Limit, kind: LimitKind): number | null {
  switch (kind) {
    case 'requests':
      return limit.requestsPerMinute
    case 'input-tokens':
      return limit.inputTokensPerMinute
    case 'output-tokens':
      return limit.outputTokensPerMinute
    case 'concurrency':
      return limit.concurrency
  }
}

function placeKey({ organizationId, subject }: Pick<LimitPlace, 'organizationId' | 'subject'>): string {
  return `${organizationId} ${subject.kind} ${subject.id}`
}

/** A principal never changes, and one object of it serves many requests, each of which asks several times. */
const knownPlaces = new WeakMap<ApiKeyPrincipal, readonly string[]>()

/** A key that replaced another goes on under the first one's limits. */
function placesOf(principal: ApiKeyPrincipal): readonly string[] {
  const known = knownPlaces.get(principal)
  if (known !== undefined) return known
  const { organizationId, projectId, apiKeyId, quotaId } = principal
  const places = [
    placeKey({ organizationId, subject: { kind: 'api-key', id: quotaId ?? apiKeyId } }),
    placeKey({ organizationId, subject: { kind: 'project', id: projectId } }),
    placeKey({ organizationId, subject: { kind: 'organization', id: organizationId } }),
  ]
  knownPlaces.set(principal, places)
  return places
}
