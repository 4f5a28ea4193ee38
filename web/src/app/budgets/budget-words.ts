import type { Schemas } from '../../api/types.ts'
import { formatCounted } from '../../format/figures.ts'
import { formatMoney } from '../../format/money.ts'

export type Budget = Schemas['Budget']

/** What a budget has now of money or tokens: with a raise the larger of the two, as the service counts. */
export function maxNow(budget: Pick<Budget, 'microsMax' | 'tokensMax' | 'raise'>, name: 'microsMax' | 'tokensMax') {
  const [max, raised] = [budget[name], budget.raise?.[name] ?? null]
  return max === null || raised === null ? max : Math.max(max, raised)
}

/** How much of a budget is spent and reserved, as shares of it; of two amounts the one that is nearer its end. */
export function sharesOf(budget: Pick<Budget, 'microsMax' | 'tokensMax' | 'raise' | 'spent' | 'reserved'>): {
  readonly spent: number
  readonly reserved: number
} {
  const { spent, reserved } = budget
  const [moneyMax, countMax] = [maxNow(budget, 'microsMax'), maxNow(budget, 'tokensMax')]
  const share = (part: number, whole: number | null) => (whole === null || whole === 0 ? 0 : part / whole)
  const money = share(spent.micros, moneyMax)
  const count = share(spent.tokens, countMax)
  return money >= count
    ? { spent: money, reserved: share(reserved?.micros ?? 0, moneyMax) }
    : { spent: count, reserved: share(reserved?.tokens ?? 0, countMax) }
}

export function amountsOf(
  { micros, tokens }: { readonly micros: number | null; readonly tokens: number | null },
  currency: string,
): string {
  const parts = [
    ...(micros === null ? [] : [formatMoney(String(micros), { currency })]),
    ...(tokens === null ? [] : [formatCounted(tokens, 'token')]),
  ]
  return parts.join(' · ')
}
