import type { LimitKind } from '../core/limit-fields.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { LimitBook } from './limit-book.ts'
import type { Limit } from './settings/setting.ts'

/** One of the numbers that hold a key's requests back, and how it stands at this moment, as this gateway knows it. */
export type LimitStanding = Pick<Limit, 'subject' | 'model' | 'setBy'> & {
  readonly kind: LimitKind
  readonly limit: number
  readonly remaining: number
  /** When all of it will be there again if nothing more is asked; null where nobody can know. */
  readonly fullInMs: number | null
  /** Whether requests beyond it are refused; otherwise it is only told in headers. */
  readonly isEnforced: boolean
  /** Whether it is the one of its kind that is used up first. */
  readonly isBinding: boolean
}

type Standing = Omit<LimitStanding, 'isBinding'>

/** All that applies to a key's requests for a model, or for none by name; of each kind the binding one first. */
export function readStanding(book: LimitBook, principal: ApiKeyPrincipal, model: string | null): LimitStanding[] {
  const all = book.limitsOf(principal, model).flatMap(({ limit, allowances }): Standing[] =>
    [...allowances].map(([kind, allowance]) => ({
      subject: limit.subject,
      model: limit.model,
      setBy: limit.setBy,
      kind,
      limit: allowance.limit,
      remaining: Math.max(0, Math.floor(allowance.remaining())),
      fullInMs: kind === 'concurrency' ? null : allowance.waitMs(allowance.limit),
      // One that is counted and refuses nobody has always enough.
      isEnforced: allowance.free() !== Infinity && (kind !== 'requests' || limit.isRequestsEnforced),
    })),
  )
  return [...Map.groupBy(all, ({ kind }) => kind).values()].flatMap((own) => {
    const sorted = own.toSorted(byTightness)
    return sorted.map((one, index) => ({ ...one, isBinding: index === 0 && one.isEnforced }))
  })
}

/** What refuses goes before what does not; then what has the least left, and of equals the smaller limit. */
function byTightness(one: Standing, other: Standing): number {
  return Number(other.isEnforced) - Number(one.isEnforced) || one.remaining - other.remaining || one.limit - other.limit
}
