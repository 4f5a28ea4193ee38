import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Transaction } from 'kysely'
import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { Tables } from '../../db/tables.ts'
import { systemClock, type Clock } from '../../lib/clock.ts'
import { addKnownRows } from '../availability/known-minutes.ts'
import { addToMinutes } from '../availability/minutes.ts'
import { lastSettled } from './last-settled.ts'
import { addRecentRows } from './recent-minutes.ts'
import { addedTo, bucketOfLedger, summedColumns, sumsOfLedger, widths, type UsageTableName } from './usage-columns.ts'

/** Few enough that nobody who wants to write waits longer than a few hundredths of a second. */
const rowsAtOnce = 500

const scopeColumns = ['organization_id', 'project_id', 'api_key_id', 'model'] as const

/**
 * Adds every ledger row that is not yet in the rollups to them, in order.
 *
 * How far it has come is written in the same transaction, so a row counts once
 * however often this runs, in how many processes and however it is interrupted.
 */
export async function rollUp(
  db: Database,
  { pause = nextTurn, batchRows = rowsAtOnce, clock = systemClock }: RollUpOptions = {},
): Promise<void> {
  const last = await lastSettled(db)
  while (await rollUpBatch(db, { last, batchRows, nowMs: clock.nowMs() })) await pause()
}

type RollUpOptions = {
  /** Between two batches. */
  readonly pause?: () => Promise<void>
  readonly batchRows?: number
  readonly clock?: Clock
}

type BatchOptions = { readonly last: number; readonly batchRows: number; readonly nowMs: number }

/** Returns whether there is more to do. */
function rollUpBatch(db: Database, { last, batchRows, nowMs }: BatchOptions): Promise<boolean> {
  return db.transaction().execute(async (transaction) => {
    const select = transaction.selectFrom('ledger_progress').select('rolled_up_to')
    const progress = await (isPostgres(db) ? select.forUpdate() : select).executeTakeFirstOrThrow()
    const after = progress.rolled_up_to
    const upTo = Math.min(last, after + batchRows)
    if (upTo <= after) return false
    for (const table of ['usage_hours', 'usage_days'] as const) await addRows(transaction, table, { after, upTo })
    await addToMinutes(transaction, { after, upTo })
    await addKnownRows(transaction, { after, upTo, nowMs })
    await addRecentRows(transaction, { after, upTo, nowMs })
    await transaction.updateTable('ledger_progress').set({ rolled_up_to: upTo }).execute()
    return upTo < last
  })
}

async function addRows(
  transaction: Transaction<Tables>,
  table: UsageTableName,
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<void> {
  const bucket = bucketOfLedger(widths[table])
  const rows = transaction
    .selectFrom('ledger')
    .select([...scopeColumns, bucket.as('bucket')])
    .select(() => summedColumns.map((column) => sumsOfLedger[column].as(column)))
    .where('sequence', '>', after)
    .where('sequence', '<=', upTo)
    .groupBy([...scopeColumns, bucket])
  await transaction
    .insertInto(table)
    .columns([...scopeColumns, 'at', ...summedColumns])
    .expression(rows)
    .onConflict((conflict) =>
      conflict
        .columns(['organization_id', 'at', 'project_id', 'api_key_id', 'model'])
        .doUpdateSet(addedTo(table, summedColumns)),
    )
    .execute()
}
