import type { NewLedgerRow } from '../../../src/billing/ledger/writer/ledger-writer.ts'
import type { Rates } from '../../../src/billing/prices/price.ts'
import { dayMs, hourMs, summedColumns, type SummedColumn } from '../../../src/billing/usage/usage-columns.ts'

/** What is added up: the columns of the sums, with the cost as one number of pico-units. */
export type SumName = Exclude<SummedColumn, 'cost_micros' | 'cost_rest_picos'> | 'cost_picos'
export type Sums = Record<SumName, bigint>

const isCount = (column: SummedColumn) => column !== 'cost_micros' && column !== 'cost_rest_picos'
const sumNames = [...(summedColumns.filter(isCount) as Exclude<SumName, 'cost_picos'>[]), 'cost_picos'] as const

/** What the sums have to be, counted row by row in whole numbers of any size, by none of the product's queries. */
export class ExpectedSums {
  readonly #sums = new Map<string, Sums>()
  rows = 0

  add(row: NewLedgerRow): void {
    this.rows += 1
    const { organization_id: organization, at } = row
    const part = partOf(row)
    for (const place of [
      'everything',
      placeOf(organization, 'whole', ''),
      placeOf(organization, 'key', row.api_key_id),
      placeOf(organization, 'project', row.project_id),
      placeOf(organization, 'model', row.model),
      placeOf(organization, 'hour', at - (at % hourMs)),
      placeOf(organization, 'day', at - (at % dayMs)),
    ]) {
      const sums = this.#sums.get(place) ?? zeroSums()
      for (const column of sumNames) sums[column] += part[column]
      this.#sums.set(place, sums)
    }
  }

  get whole(): Sums {
    return this.#sums.get('everything') ?? zeroSums()
  }

  /** Under the ids of keys, projects and models, or the beginnings of hours and days. */
  of(organization: string, dimension: string): Map<string, Sums> {
    const start = placeOf(organization, dimension, '')
    const own = [...this.#sums].filter(([place]) => place.startsWith(start))
    return new Map(own.map(([place, sums]) => [place.slice(start.length), sums]))
  }
}

/** By the documented rule: in pico-units, exact. */
export function expectedCost(rates: Rates, row: NewLedgerRow): bigint {
  const short = row.input_cache_write - row.input_cache_write_long
  const [uncached, read, long, output] = [
    row.input_uncached,
    row.input_cache_read,
    row.input_cache_write_long,
    row.output,
  ]
  return (
    BigInt(uncached) * BigInt(rates.input) +
    BigInt(read) * BigInt(rates.cacheRead) +
    BigInt(short) * BigInt(rates.cacheWriteShort) +
    BigInt(long) * BigInt(rates.cacheWriteLong) +
    BigInt(output) * BigInt(rates.output)
  )
}

export function zeroSums(): Sums {
  return Object.fromEntries(sumNames.map((column) => [column, 0n])) as Sums
}

function placeOf(organization: string, dimension: string, id: string | number): string {
  return `${organization} ${dimension} ${id}`
}

function partOf(row: NewLedgerRow): Sums {
  const isCharge = row.kind === 'charge'
  const counts = (holds: boolean) => (holds ? 1n : 0n)
  return {
    requests: counts(isCharge),
    finished: counts(isCharge && row.outcome === 'finished'),
    aborted: counts(isCharge && row.outcome === 'aborted'),
    failed: counts(isCharge && row.outcome === 'failed'),
    reversed: counts(!isCharge),
    unpriced: counts(isCharge && row.price_id === null),
    cost_picos: BigInt(row.cost_micros ?? 0) * 1_000_000n + BigInt(row.cost_rest_picos ?? 0),
    input_uncached: BigInt(row.input_uncached),
    input_cache_read: BigInt(row.input_cache_read),
    input_cache_write: BigInt(row.input_cache_write),
    input_cache_write_long: BigInt(row.input_cache_write_long),
    output: BigInt(row.output),
    output_thinking: BigInt(row.output_thinking),
  }
}
