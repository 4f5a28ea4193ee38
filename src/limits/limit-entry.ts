import { limitFields, type LimitKind } from '../core/limit-fields.ts'
import type { Allowance } from './allowances/allowance.ts'
import type { BudgetParts } from './budgets/budget-account.ts'
import type { Limit } from './settings/setting.ts'

/** A limit with what is left of it. */
export type LimitEntry = { readonly limit: Limit; readonly allowances: ReadonlyMap<LimitKind, Allowance> }

export type OpenAllowance = (kind: LimitKind, allowance: { readonly id: string; readonly limit: number }) => Allowance

export type BookParts = BudgetParts & {
  readonly openAllowance: OpenAllowance
  /** Opens one that refuses nobody; each gateway counts its own. */
  readonly openReportedAllowance: OpenAllowance
}

export type Closable = { close(): Promise<void> }

/** The allowances of a limit: those it had before count on, and what it no longer has is added to `old`. */
export function allowancesFor(
  limit: Limit,
  before: LimitEntry['allowances'] | undefined,
  open: OpenAllowance,
  old: Closable[],
): LimitEntry['allowances'] {
  const allowances = new Map<LimitKind, Allowance>()
  for (const [name, kind] of countedFields) {
    const most = limit[name]
    const existing = before?.get(kind)
    if (most === null) {
      if (existing !== undefined) old.push(existing)
      continue
    }
    if (existing !== undefined && existing.limit !== most) existing.resize(most)
    allowances.set(kind, existing ?? open(kind, { id: `${limit.id}:${kind}`, limit: most }))
  }
  return allowances
}

/** The fields that count something, each with what it counts. */
const countedFields = Object.entries(limitFields).flatMap(([name, field]) =>
  'counts' in field ? [[name as CountedField, field.counts] as const] : [],
)

type CountedField = 'inputTokensPerMinute' | 'outputTokensPerMinute' | 'requestsPerMinute' | 'concurrency'
