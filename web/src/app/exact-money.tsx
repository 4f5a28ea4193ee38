import { formatExactMoney, formatMoney } from '../format/money.ts'
import { useCurrency } from './queries.ts'

/** An amount as tables show it, with all its decimals for who points at it. */
export function ExactMoney({ micros, decimals }: { readonly micros: string; readonly decimals?: number }) {
  const currency = useCurrency()
  return (
    <span title={formatExactMoney(micros, currency)}>
      {formatMoney(micros, { currency, ...(decimals !== undefined && { decimals }) })}
    </span>
  )
}
