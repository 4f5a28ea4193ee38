// Write-ahead: rows that PostgreSQL does not take at once are made durable in files first, and replayed later.

import { deadline, systemClock, type Clock } from '../../../lib/clock.ts'
import { toError } from '../../../lib/message-of.ts'
import { createTurns } from '../../../lib/turns.ts'
import type { Database } from '../../../db/database.ts'
import { groupCommits, RowFault } from './group-commit.ts'
import { insertRows } from './insert-rows.ts'
import type { NewLedgerRow, LedgerWriter, StorageReport } from './ledger-writer.ts'
import { openWriteAheadFiles, type WriteAheadFiles, type WriteAheadFile } from './write-ahead-files.ts'

/** The longest that a request's last bytes, which wait for its row, wait for a slow database. */
const patienceMs = 1_000

/** Room for some 350,000 rows, which are hours without a database for all but the busiest service. */
const filesBytesMax = 256 * 1024 * 1024

type Settings = {
  /** The writer's own connections, which it closes: no other query may keep rows waiting. */
  readonly db: Database
  /** The folder of rows that wait for PostgreSQL. */
  readonly folder: string
  readonly report: StorageReport
  readonly clock?: Clock
  readonly bytesMax?: number
}

/**
 * Writes rows to PostgreSQL, or to a file in the data folder while it does not answer.
 *
 * Either way they are durable. Rows that an earlier run has left in the files are
 * written first. The rows of a commit whose answer was lost are written once more,
 * because a row that is there already stays as it is.
 */
export async function openPostgresLedgerWriter(settings: Settings): Promise<LedgerWriter> {
  const { db, folder, report, clock = systemClock, bytesMax = filesBytesMax } = settings
  const files = openWriteAheadFiles(folder, bytesMax)
  const storage = createFaultKeeper(report)
  const inTurn = createTurns()
  const replayer = createReplayer({
    db,
    files,
    report,
    clock,
    inTurn,
    turnMsMax: patienceMs,
    onDone() {
      storage.clear()
      report.recovered('PostgreSQL has all ledger rows again.')
    },
    async onFailure() {
      if (storage.fault() !== null) await storage.keep(() => files.probe()).catch(() => {})
    },
  })

  async function commit(rows: readonly NewLedgerRow[]): Promise<void> {
    if (files.fileCount() === 0) {
      const outcome = await insertWithin(rows, { db, clock })
      if (outcome === null) return
      if (outcome instanceof RowFault) throw outcome
      report.failed(outcome, 'PostgreSQL does not take ledger rows: they are kept in the data folder until it does.')
    }
    try {
      await storage.keep(() => files.append(rows))
    } finally {
      replayer.runSoon()
    }
  }

  if (files.fileCount() > 0) await replayer.run()
  const gathered = groupCommits((rows) => inTurn(() => commit(rows)))
  return {
    write: gathered.write,
    fault: storage.fault,
    async close() {
      await gathered.idle()
      await replayer.stop()
      await files.close()
      await db.destroy()
    },
  }
}

/** Null when the rows are in the database, else why that is not known. */
async function insertWithin(
  rows: readonly NewLedgerRow[],
  { db, clock }: { readonly db: Database; readonly clock: Clock },
): Promise<Error | null> {
  try {
    await deadline(clock, patienceMs, insertRows(db, rows))
    return null
  } catch (error) {
    return toError(error)
  }
}

/** Remembers why nothing can be written, and reports the beginning and the end of it. */
function createFaultKeeper(report: StorageReport) {
  let fault: Error | null = null
  const clear = () => {
    if (fault !== null) report.recovered('The ledger can be written again.')
    fault = null
  }
  return {
    fault: () => fault,
    clear,
    async keep(write: () => Promise<void>): Promise<void> {
      try {
        await write()
        clear()
      } catch (error) {
        if (fault === null) report.failed(error, 'The ledger cannot be written: new requests are refused until it can.')
        fault = toError(error)
        throw error
      }
    },
  }
}

const pauseMs = 1_000

type ReplayerParts = {
  readonly db: Database
  readonly files: WriteAheadFiles
  readonly report: StorageReport
  readonly clock: Clock
  /** Keeps new rows from being written while the work runs. */
  inTurn(work: () => Promise<void>): Promise<void>
  /** How long that work may keep new rows waiting. */
  readonly turnMsMax: number
  /** Called when the database has all rows. */
  onDone(): void
  onFailure(): Promise<void>
}

export type Replayer = {
  /** Tries once, at once. */
  run(): Promise<void>
  /** Tries after a pause, and again and again until everything is written. */
  runSoon(): void
  stop(): Promise<void>
}

/** Replays the write-ahead files to the database while new rows come. */
export function createReplayer(parts: ReplayerParts): Replayer {
  const { db, files, report, clock, inTurn, turnMsMax } = parts
  let running: Promise<void> | null = null
  let callOff: (() => void) | null = null

  async function run(): Promise<void> {
    try {
      // No request waits for these rows; the first file shows whether PostgreSQL answers at all.
      await replayOldest(files, { db, report })
      await replayFiles(files, { db, report, filesLeft: 1 })
      await replayLast()
      if (files.fileCount() > 0) runSoon()
      else parts.onDone()
    } catch {
      // The fault was reported when it began; the replay is tried again until it is over.
      await parts.onFailure()
      runSoon()
    }
  }

  /** Under load there is always one more file, unless new rows wait until the last one is written; but not for long. */
  async function replayLast(): Promise<void> {
    let replayed = Promise.resolve()
    await inTurn(() => {
      replayed = replayFiles(files, { db, report, filesLeft: 0 })
      return deadline(clock, turnMsMax, replayed).catch(() => {})
    })
    await replayed
  }

  function runSoon(): void {
    callOff ??= clock.after(pauseMs, () => {
      callOff = null
      running ??= run().finally(() => {
        running = null
      })
    })
  }

  return {
    run,
    runSoon,
    async stop() {
      callOff?.()
      await running
      callOff?.()
    },
  }
}

const rowsPerStatement = 500

type ReplayParts = {
  readonly db: Database
  readonly report: StorageReport
  /** How many files may stay, the newest ones. */
  readonly filesLeft: number
}

/** Writes the rows of the files to the database, the oldest file first. Throws when the database does not take them. */
async function replayFiles(files: WriteAheadFiles, { db, report, filesLeft }: ReplayParts): Promise<void> {
  while (files.fileCount() > filesLeft) await replayOldest(files, { db, report })
}

/** Writes the rows of the oldest file alone. New rows go to another file meanwhile. */
async function replayOldest(files: WriteAheadFiles, { db, report }: Omit<ReplayParts, 'filesLeft'>): Promise<void> {
  const file = await files.oldest()
  if (file !== null) await files.remove(await replayFile(file, db, report))
}

async function replayFile(file: WriteAheadFile, db: Database, report: StorageReport): Promise<WriteAheadFile> {
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
async function insertAccepted(db: Database, rows: readonly NewLedgerRow[]): Promise<number> {
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
