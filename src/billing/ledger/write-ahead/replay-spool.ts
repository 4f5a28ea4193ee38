import type { Database } from '../../../db/database.ts'
import { RowFault } from './gather-writes.ts'
import { insertRows } from './insert-rows.ts'
import type { NewRow, StorageReport } from './row-writer.ts'
import type { Spool, SpoolFile } from './spool.ts'

const rowsPerStatement = 500

type ReplayParts = {
  readonly db: Database
  readonly report: StorageReport
  /** So many files may stay, the newest ones. */
  readonly filesLeft: number
}

/** Writes what is in the spool to the database, the oldest first. Throws when the database does not take it. */
export async function replaySpool(spool: Spool, { db, report, filesLeft }: ReplayParts): Promise<void> {
  while (spool.fileCount() > filesLeft) await replayOldest(spool, { db, report })
}

/** The same for one file. New rows go to another one meanwhile. */
export async function replayOldest(spool: Spool, { db, report }: Omit<ReplayParts, 'filesLeft'>): Promise<void> {
  const file = await spool.oldest()
  if (file !== null) await spool.remove(await replayFile(file, db, report))
}

async function replayFile(file: SpoolFile, db: Database, report: StorageReport): Promise<SpoolFile> {
  let refusedCount = 0
  for (let from = 0; from < file.rows.length; from += rowsPerStatement) {
    refusedCount += await insertAccepted(db, file.rows.slice(from, from + rowsPerStatement))
  }
  const damagedCount = file.damagedCount + refusedCount
  if (damagedCount > 0) {
    const error = new Error(`${file.damagedCount} lines are damaged and ${refusedCount} rows were refused.`)
    report.failed(error, `Not all of ${file.path} could be written to PostgreSQL; the file is kept as .damaged.`)
  }
  return { ...file, damagedCount }
}

/** Returns how many rows the database would not have; the others of a statement must not be lost with them. */
async function insertAccepted(db: Database, rows: readonly NewRow[]): Promise<number> {
  try {
    await insertRows(db, rows)
    return 0
  } catch (error) {
    if (!(error instanceof RowFault)) throw error
    if (rows.length === 1) return 1
    let refusedCount = 0
    for (const row of rows) refusedCount += await insertAccepted(db, [row])
    return refusedCount
  }
}
