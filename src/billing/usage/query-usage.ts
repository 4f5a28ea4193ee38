import { sql, type RawBuilder } from 'kysely'
import type { Usage } from '../../core/generation.ts'
import type { RequestId } from '../../core/ids.ts'
import { picosPerMicro } from '../../core/money.ts'
import { narrowProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import type { tokenColumns } from '../ledger/token-columns.ts'
import { lastSettled } from './last-settled.ts'
import { makeCursor, parseCursor } from './usage-cursor.ts'
import { hasAny, selectUsage, type Fresh, type Progress, type UsageFilter, type UsageQuery } from './select-usage.ts'
import { hourMs, summedColumns, sumsOfLedger, type SummedColumn } from './usage-columns.ts'

export type UsageRow = {
  /** The beginning of the hour or day; null where the whole time is one. */
  readonly startMs: number | null
  /** The id of the key or project, the model, or to whom it is attributed; null where nothing is grouped. */
  readonly group: string | null
  readonly requests: number
  readonly finished: number
  readonly aborted: number
  readonly failed: number
  readonly reversed: number
  readonly unpriced: number
  readonly usage: Usage
  /** Exact: no row of the ledger was rounded. */
  readonly costPicos: bigint
}

export type UsagePage = { readonly rows: readonly UsageRow[]; readonly nextCursor: string | null }

/** What the principal may see of an organization's usage. */
export function readUsage(db: Database, principal: Principal, query: UsageQuery): Promise<UsagePage> {
  const projectIds = narrowProjects(principal, 'usage:read', query)
  return queryUsage(db, { ...query, ...(projectIds !== undefined && { projectIds }) })
}

/** The usage of one organization, up to the last row of the ledger: what is not yet rolled up is added from there. */
export async function queryUsage(db: Database, query: UsageQuery): Promise<UsagePage> {
  const { bucket, groupBy, limit } = query
  const after = query.cursor === null ? null : parseCursor(query.cursor, bucket === 'whole')
  const fromMs = after === null || bucket === 'whole' ? query.fromMs : Math.max(query.fromMs, after.bucket)
  requireWholeHours(query)
  const condition =
    after === null
      ? sql`1 = 1`
      : sql`(bucket > ${after.bucket} or (bucket = ${after.bucket} and grouped > ${after.grouped}))`
  const rows = await readSums(db, { ...query, fromMs }, condition)
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    rows: page.map((row) => toUsageRow(row, bucket !== 'whole', groupBy !== null)),
    nextCursor: rows.length > limit && last !== undefined ? makeCursor(last) : null,
  }
}

/** More rows than anybody asks for: a year of a thousand keys by the day is less. */
const rowsMax = 1_000_000

/** The sums of several questions, all of the same moment: each counts up to the same row of the ledger. */
export async function queryUsageTogether(
  db: Database,
  questions: readonly Omit<UsageQuery, 'limit' | 'cursor'>[],
): Promise<readonly (readonly UsageRow[])[]> {
  for (const question of questions) requireWholeHours(question)
  for (;;) {
    const upTo = await lastSettled(db)
    const answers: (readonly UsageRow[])[] = []
    for (const question of questions) {
      const progress = await readProgress(db)
      const query = { ...question, limit: rowsMax, cursor: null }
      const isBehind = Math.max(progress.rolledUpTo, progress.attributedUpTo) > upTo
      const rows = isBehind ? null : await sumOnce(db, query, sql`1 = 1`, { ...progress, upTo })
      if (rows === null) break
      answers.push(rows.map((row) => toUsageRow(row, question.bucket !== 'whole', question.groupBy !== null)))
    }
    if (answers.length === questions.length) return answers
  }
}

/** What was spent from a time on, a whole hour, by an organization or a part of it. For budgets. */
export async function spentSince(
  db: Database,
  scope: Omit<UsageFilter, 'fromMs' | 'toMs'>,
  periodStartMs: number,
): Promise<Spent & { readonly upTo: number }> {
  const whole = { bucket: 'whole', groupBy: null, limit: 1, cursor: null } as const
  const query = { ...scope, ...whole, fromMs: periodStartMs, toMs: null }
  requireWholeHours(query)
  for (;;) {
    const upTo = await lastSettled(db)
    const progress = await readProgress(db)
    const rows = progress.rolledUpTo > upTo ? null : await sumOnce(db, query, sql`1 = 1`, { ...progress, upTo })
    if (rows !== null) return { ...(rows[0] === undefined ? nothing : toUsageRow(rows[0], false, false)), upTo }
  }
}

/** The same of single requests, up to a row of the ledger. Their reversals are not among it. */
export async function spentByRequests(
  db: Database,
  requestIds: readonly RequestId[],
  { fromMs, upTo }: { readonly fromMs: number; readonly upTo: number },
): Promise<Spent> {
  if (requestIds.length === 0) return nothing
  const sums = summedColumns.map((column) => sql`cast(${sumsOfLedger[column]} as text) as ${sql.ref(column)}`)
  const { rows } = await sql<SumRow>`
    select ${sql.join(sums)} from ledger
    where request_id in (${sql.join(requestIds)}) and kind = 'charge' and at >= ${fromMs} and sequence <= ${upTo}
    having count(*) > 0`.execute(db)
  return rows[0] === undefined ? nothing : toUsageRow(rows[0], false, false)
}

export type Spent = { readonly costPicos: bigint; readonly usage: Usage; readonly requests: number }
const nothing: Spent = { costPicos: 0n, usage: toUsage(() => 0), requests: 0 }

type SumRow = {
  readonly bucket: number
  readonly grouped: string
  readonly rolled_up_to: number
  readonly attributed_up_to: number
} & Readonly<Record<SummedColumn, string>>

/**
 * Asks with the watermark as a number, so that the database knows how few rows lie behind it.
 * Where rows have been rolled up in the meantime they would count twice, and it asks again.
 */
async function readSums(db: Database, query: UsageQuery, condition: RawBuilder<unknown>): Promise<readonly SumRow[]> {
  for (;;) {
    const rows = await sumOnce(db, query, condition, { ...(await readProgress(db)), upTo: null })
    if (rows !== null) return rows
  }
}

async function readProgress(db: Database): Promise<Progress> {
  const { rows } = await sql<{ all: number; attributed: number }>`
    select (select rolled_up_to from ledger_progress) as "all",
      (select rolled_up_to from attribution_progress) as attributed`.execute(db)
  return { rolledUpTo: Number(rows[0]?.all), attributedUpTo: Number(rows[0]?.attributed) }
}

/** Null where rows have been rolled up in the meantime. */
async function sumOnce(
  db: Database,
  query: UsageQuery,
  condition: RawBuilder<unknown>,
  fresh: Fresh,
): Promise<readonly SumRow[] | null> {
  const sums = summedColumns.map((column) => sql`cast(sum(${sql.ref(column)}) as text) as ${sql.ref(column)}`)
  const { rows } = await sql<SumRow>`
    select bucket, grouped, (select rolled_up_to from ledger_progress) as rolled_up_to,
      (select rolled_up_to from attribution_progress) as attributed_up_to, ${sql.join(sums)}
    from (${selectUsage(db, query, fresh)}) as usage_rows
    where ${condition} group by bucket, grouped ${hasAny(query)} order by bucket, grouped limit ${query.limit + 1}`.execute(
    db,
  )
  const { rolledUpTo, attributedUpTo } = fresh
  // Nothing else asks for the second mark, which may move on while the first one stands.
  const isSame = (row: SumRow) =>
    Number(row.rolled_up_to) === rolledUpTo &&
    (query.attributed === undefined || Number(row.attributed_up_to) === attributedUpTo)
  return rows.every(isSame) ? rows : null
}

function requireWholeHours({ fromMs, toMs }: UsageFilter): void {
  if (fromMs % hourMs === 0 && (toMs === null || toMs % hourMs === 0)) return
  throw new RangeError('Usage is kept by the hour: it begins and ends with a whole one.')
}

function toUsageRow(row: SumRow, hasBucket: boolean, isGrouped: boolean): UsageRow {
  const count = (column: SummedColumn) => Number(row[column])
  return {
    startMs: hasBucket ? row.bucket : null,
    group: isGrouped ? row.grouped : null,
    requests: count('requests'),
    finished: count('finished'),
    aborted: count('aborted'),
    failed: count('failed'),
    reversed: count('reversed'),
    unpriced: count('unpriced'),
    usage: toUsage(count),
    costPicos: BigInt(row.cost_micros) * picosPerMicro + BigInt(row.cost_rest_picos),
  }
}

function toUsage(count: (column: (typeof tokenColumns)[number]) => number): Usage {
  return {
    inputUncached: count('input_uncached'),
    inputCacheRead: count('input_cache_read'),
    inputCacheWrite: count('input_cache_write'),
    inputCacheWriteLong: count('input_cache_write_long'),
    output: count('output'),
    outputThinking: count('output_thinking'),
  }
}
