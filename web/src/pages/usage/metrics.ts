import type { Schemas } from '../../api/types.ts'
import { formatShare, formatShortCount } from '../../format/figures.ts'
import { formatMoney, toUnits } from '../../format/money.ts'
import type { UsageSearch } from './search.ts'

export type Sums = Schemas['UsageSums']
export type Series = Schemas['UsageSeries']

export type Metric = UsageSearch['metric']
export const metrics: readonly { readonly value: Metric; readonly label: string }[] = [
  { value: 'cost', label: 'Cost' },
  { value: 'tokens', label: 'Tokens' },
  { value: 'requests', label: 'Requests' },
  { value: 'cache', label: 'Cache' },
]

type Tokens = Pick<Sums['tokens'], 'inputUncached' | 'inputCacheRead' | 'inputCacheWrite' | 'output'>
/** What of the sums of a bucket or of a whole time a chart or a table shows. */
export type Shown = Pick<Sums, 'requests' | 'costMicros'> & { readonly tokens: Tokens }

export const inputOf = ({ tokens }: Shown) => tokens.inputUncached + tokens.inputCacheRead + tokens.inputCacheWrite
export const cachedShareOf = (sums: Shown) => (inputOf(sums) === 0 ? 0 : sums.tokens.inputCacheRead / inputOf(sums))

/** One group's sums in one bucket, out of the columns that they came in. */
export function sumsAt({ requests, costMicros, tokens }: Series, group: number, bucket: number): Shown {
  const count = (columns: readonly (readonly number[])[]) => columns[group]?.[bucket] ?? 0
  return {
    requests: count(requests),
    costMicros: costMicros[group]?.[bucket] ?? '0',
    tokens: {
      inputUncached: count(tokens.inputUncached),
      inputCacheRead: count(tokens.inputCacheRead),
      inputCacheWrite: count(tokens.inputCacheWrite),
      output: count(tokens.output),
    },
  }
}

export function valueOf(metric: Metric, sums: Shown): number {
  switch (metric) {
    case 'cost':
      return toUnits(sums.costMicros)
    case 'tokens':
      return inputOf(sums) + sums.tokens.output
    case 'requests':
      return sums.requests
    case 'cache':
      return sums.tokens.inputCacheRead
  }
}

export function wordsOfMetric(metric: Metric, sums: Shown, currency: string): string {
  if (metric === 'cost') return formatMoney(sums.costMicros, { currency })
  if (metric === 'cache') return `${formatShortCount(sums.tokens.inputCacheRead)} (${formatShare(cachedShareOf(sums))})`
  return formatShortCount(valueOf(metric, sums))
}

export function tickOf(metric: Metric, currency: string): (value: number) => string {
  if (metric !== 'cost') return (value) => formatShortCount(value)
  return (value) => {
    const micros = String(Math.round(value * 1_000_000))
    const parts = (micros.padStart(7, '0').slice(-6).replace(/0+$/, '') || '').length
    // Rounded, two steps of a small amount would be called the same.
    return formatMoney(micros, {
      currency,
      decimals: parts === 0 && (value === 0 || value >= 10) ? 0 : Math.max(2, parts),
    })
  }
}

export const unitOf: Readonly<Record<Metric, string>> = {
  cost: 'Cost',
  tokens: 'Tokens',
  requests: 'Requests',
  cache: 'Tokens read from the cache',
}
