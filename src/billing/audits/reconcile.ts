import { sql } from 'kysely'
import type { Database } from '../../db/database.ts'
import type { Clock } from '../../lib/clock.ts'
import { randomId } from '../../lib/random-id.ts'
import { summedColumns, sumsOfLedger, type SummedColumn } from '../usage/usage-columns.ts'
import { rollUp } from '../usage/roll-up.ts'

/** Adding up this many rows takes a few milliseconds. */
const rowsAtOnce = 2_000

type Sums = Readonly<Record<SummedColumn, bigint>>
type Where = 'ledger' | 'hours' | 'days'
export type Difference = { readonly column: SummedColumn } & Readonly<Record<Where, string>>

export type Reconciliation = { readonly sequence: number; readonly differences: readonly Difference[] }

type Parts = { readonly db: Database; readonly clock: Clock }

/**
 * Compares the sum of the whole ledger with those of its rollups, and keeps the result.
 *
 * The ledger is added up where the last time ended, so that this takes as long
 * as there are new rows; rows that were deleted since stay in its sum.
 */
export async function reconcile({ db, clock }: Parts, pause: () => Promise<void>): Promise<Reconciliation> {
  await rollUp(db, { pause, clock })
  for (;;) {
    while (await addUpBatch(db)) await pause()
    const found = await readSums(db)
    // Somebody has rolled up in the meantime: what is compared has to end at the same row.
    if (found.rolledUpTo !== found.reconciledTo) continue
    const differences = summedColumns.flatMap((column) => compare(column, found))
    const result = { sequence: found.reconciledTo, differences }
    await db
      .insertInto('reconciliations')
      .values({
        id: `reconciliation_${randomId()}`,
        at: clock.nowMs(),
        sequence: result.sequence,
        is_equal: differences.length === 0 ? 1 : 0,
        differences: JSON.stringify(differences),
      })
      .execute()
    return result
  }
}

type Found = { readonly rolledUpTo: number; readonly reconciledTo: number } & Readonly<Record<Where, Sums>>

function compare(column: SummedColumn, { ledger, hours, days }: Found): Difference[] {
  if (ledger[column] === hours[column] && hours[column] === days[column]) return []
  return [{ column, ledger: String(ledger[column]), hours: String(hours[column]), days: String(days[column]) }]
}

/** Adds up the next rows that the rollups contain. Returns whether there may be more. */
async function addUpBatch(db: Database): Promise<boolean> {
  const progress = await db.selectFrom('ledger_progress').selectAll().executeTakeFirstOrThrow()
  const upTo = Math.min(progress.rolled_up_to, progress.reconciled_to + rowsAtOnce)
  if (upTo <= progress.reconciled_to) return false
  const batch = await db
    .selectFrom('ledger')
    .select(() => summedColumns.map((column) => sumsOfLedger[column].as(column)))
    .where('sequence', '>', progress.reconciled_to)
    .where('sequence', '<=', upTo)
    .executeTakeFirstOrThrow()
  const before = parseSums(progress.reconciled_sums)
  const sums = Object.fromEntries(
    summedColumns.map((column) => [column, String(before[column] + BigInt(batch[column]))]),
  )
  await db
    .updateTable('ledger_progress')
    .set({ reconciled_to: upTo, reconciled_sums: JSON.stringify(sums) })
    .where('reconciled_to', '=', progress.reconciled_to)
    .execute()
  return true
}

/** Reads the three sums in one statement, so that all are of one moment. */
async function readSums(db: Database): Promise<Found> {
  const sumsOf = (table: string) => {
    const pairs = summedColumns.map((column) => sql`cast(coalesce(sum(${sql.ref(column)}), 0) as text)`)
    return sql`(select ${sql.join(pairs, sql` || ' ' || `)} from ${sql.table(table)})`
  }
  const { rows } = await sql<{ to: number; done: number; sums: string; hours: string; days: string }>`
    select rolled_up_to as "to", reconciled_to as done, reconciled_sums as sums,
      ${sumsOf('usage_hours')} as hours, ${sumsOf('usage_days')} as days from ledger_progress`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('The row of ledger_progress is missing.')
  const split = (text: string) => toSums(text.split(' '))
  return {
    rolledUpTo: row.to,
    reconciledTo: row.done,
    ledger: parseSums(row.sums),
    hours: split(row.hours),
    days: split(row.days),
  }
}

function parseSums(json: string): Sums {
  const parsed = JSON.parse(json) as Partial<Record<SummedColumn, string>>
  return toSums(summedColumns.map((column) => parsed[column] ?? '0'))
}

function toSums(texts: readonly string[]): Sums {
  return Object.fromEntries(summedColumns.map((column, index) => [column, BigInt(texts[index] ?? 0)])) as Record<
    SummedColumn,
    bigint
  >
}
