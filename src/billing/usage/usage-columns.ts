import { sql, type RawBuilder } from 'kysely'
import { tokenColumns } from '../ledger/token-columns.ts'

export const hourMs = 3_600_000
export const dayMs = 86_400_000

export type UsageTableName = 'usage_hours' | 'usage_days'

export const widths: Readonly<Record<UsageTableName, number>> = { usage_hours: hourMs, usage_days: dayMs }

/** Everything in a usage row that is added up. */
export const summedColumns = [
  'requests',
  'finished',
  'aborted',
  'failed',
  'reversed',
  'unpriced',
  'cost_micros',
  'cost_rest_picos',
  ...tokenColumns,
] as const
export type SummedColumn = (typeof summedColumns)[number]

const isCharge = sql`kind = 'charge'`

/** How each of them is made of ledger rows. A reversal takes tokens and cost back, which are negative in its row. */
export const sumsOfLedger: Readonly<Record<SummedColumn, RawBuilder<number>>> = {
  requests: count(isCharge),
  finished: count(sql`${isCharge} and outcome = 'finished'`),
  aborted: count(sql`${isCharge} and outcome = 'aborted'`),
  failed: count(sql`${isCharge} and outcome = 'failed'`),
  reversed: count(sql`kind = 'reversal'`),
  unpriced: count(sql`${isCharge} and price_id is null`),
  cost_micros: sum('cost_micros'),
  cost_rest_picos: sum('cost_rest_picos'),
  input_uncached: sum('input_uncached'),
  input_cache_read: sum('input_cache_read'),
  input_cache_write: sum('input_cache_write'),
  input_cache_write_long: sum('input_cache_write_long'),
  output: sum('output'),
  output_thinking: sum('output_thinking'),
}

/** The beginning of the hour or day, in UTC, in which a ledger row counts. */
export function bucketOfLedger(widthMs: number): RawBuilder<number> {
  return sql<number>`at - at % ${sql.lit(widthMs)}`
}

/** Adds what is inserted to what is there already, for `doUpdateSet`. */
export function addedTo<Column extends string>(
  table: string,
  columns: readonly Column[],
): Readonly<Record<Column, RawBuilder<number>>> {
  const sums = columns.map((column) => [
    column,
    sql<number>`${sql.ref(`${table}.${column}`)} + ${sql.ref(`excluded.${column}`)}`,
  ])
  return Object.fromEntries(sums) as Record<Column, RawBuilder<number>>
}

function count(condition: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`cast(coalesce(sum(case when ${condition} then 1 else 0 end), 0) as bigint)`
}

function sum(column: string): RawBuilder<number> {
  return sql<number>`cast(coalesce(sum(${sql.ref(column)}), 0) as bigint)`
}
