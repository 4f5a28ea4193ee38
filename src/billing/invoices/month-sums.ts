import { sql } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { PriceId } from '../../db/tables/billing.ts'
import { periodOf } from '../availability/month.ts'
import { piecesOf, planScan, selectSpans } from '../ledger/ledger-scan.ts'

export const tokenKinds = ['input', 'cacheRead', 'cacheWriteShort', 'cacheWriteLong', 'output'] as const
export type TokenKind = (typeof tokenKinds)[number]

/** What was asked of a model at a price in a month. What failed costs nothing, so its tokens are not among them. */
export type MonthSum = {
  readonly model: string
  readonly priceId: PriceId | null
  readonly requests: number
  readonly costMicros: bigint
  readonly costRestPicos: bigint
  readonly tokens: Readonly<Record<TokenKind, number>>
}

/**
 * By model and price. A month of a large organization has millions of rows: they are added up a few thousand at a time,
 * between which the statements of those who serve have their turn.
 */
export async function readMonthSums(
  db: Database,
  { organizationId, month }: { readonly organizationId: OrganizationId; readonly month: string },
  rowsPerPiece = 2_000,
): Promise<readonly MonthSum[]> {
  const { fromMs, untilMs } = periodOf(month)
  const scan = planScan(db, { organizationId, fromMs, toMs: untilMs })
  const sums = new Map<string, MonthSum>()
  for await (const piece of piecesOf(db, scan, { after: null, rowsPerPiece, piecesMax: Infinity })) {
    for (const part of selectSpans(db, scan, piece)) {
      const rows = await part
        .select(['model', 'price_id as priceId'])
        .select([
          sql<number>`cast(sum(case when kind = 'charge' then 1 else 0 end) as bigint)`.as('requests'),
          sql<string>`cast(coalesce(sum(cost_micros), 0) as text)`.as('costMicros'),
          sql<string>`cast(coalesce(sum(cost_rest_picos), 0) as text)`.as('costRestPicos'),
          sumOfCharged('input_uncached').as('input'),
          sumOfCharged('input_cache_read').as('cacheRead'),
          sumOfCharged('input_cache_write').as('cacheWrite'),
          sumOfCharged('input_cache_write_long').as('cacheWriteLong'),
          sumOfCharged('output').as('output'),
        ])
        .groupBy(['model', 'price_id'])
        .execute()
      for (const { model, priceId, requests, costMicros, costRestPicos, ...counts } of rows) {
        const cost = { costMicros: BigInt(costMicros), costRestPicos: BigInt(costRestPicos) }
        add(sums, { model, priceId, requests, ...cost, tokens: toTokens(counts) })
      }
    }
  }
  return [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum)
}

type TokenCounts = Readonly<Record<Exclude<TokenKind, 'cacheWriteShort'> | 'cacheWrite', number>>

function toTokens({ cacheWrite, ...counts }: TokenCounts): MonthSum['tokens'] {
  return { ...counts, cacheWriteShort: cacheWrite - counts.cacheWriteLong }
}

function sumOfCharged(column: string) {
  return sql<number>`cast(coalesce(sum(case when outcome <> 'failed' then ${sql.ref(column)} else 0 end), 0) as bigint)`
}

function add(sums: Map<string, MonthSum>, more: MonthSum): void {
  const name = `${more.model} ${more.priceId ?? ''}`
  const before = sums.get(name)
  sums.set(name, before === undefined ? more : plus(before, more))
}

function plus(one: MonthSum, other: MonthSum): MonthSum {
  const { tokens } = one
  return {
    ...one,
    requests: one.requests + other.requests,
    costMicros: one.costMicros + other.costMicros,
    costRestPicos: one.costRestPicos + other.costRestPicos,
    tokens: {
      input: tokens.input + other.tokens.input,
      cacheRead: tokens.cacheRead + other.tokens.cacheRead,
      cacheWriteShort: tokens.cacheWriteShort + other.tokens.cacheWriteShort,
      cacheWriteLong: tokens.cacheWriteLong + other.tokens.cacheWriteLong,
      output: tokens.output + other.tokens.output,
    },
  }
}
