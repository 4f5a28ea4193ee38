import type { Database } from '../../db/database.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import { readPrices } from '../prices/prices.ts'
import { readLedger, type LedgerLine } from '../ledger/read-ledger.ts'
import { addLine, compareSums, readRolledUp, type UsageSums } from './compare-rollups.ts'
import { createRowVerifier } from './verify-row.ts'

export type LedgerFault = {
  /** The row's sequence number; null for a fault of the rollups. */
  readonly sequence: number | null
  readonly subject: string
  readonly fault: string
}

export type LedgerVerdict = { readonly rows: number; readonly costMicros: bigint; readonly faults: number }

/**
 * Replays the ledger: the cost of every row from its price, the order of the
 * rows, and the rollups from the rows. It may run beside a service.
 */
export async function verifyLedger(db: Database, report: (fault: LedgerFault) => void): Promise<LedgerVerdict> {
  const verdict = { rows: 0, costMicros: 0n, faults: 0 }
  const tell = (fault: LedgerFault) => {
    verdict.faults += 1
    report(fault)
  }
  const replay = await createReplay(db, tell)
  const sums: UsageSums = new Map()
  let verifiedTo = 0
  // A service that goes on rolling up is followed until both stand at the same row.
  for (;;) {
    const { keptFromMs, rolledUpTo, days, hours } = await readRolledUp(db)
    for await (const page of readLedger(db, { afterSequence: verifiedTo, toSequence: rolledUpTo })) {
      for (const row of page) replay(row, verdict)
      for (const row of page.filter(({ at }) => at >= keptFromMs)) addLine(sums, row)
    }
    const isCurrent = verifiedTo === rolledUpTo
    verifiedTo = rolledUpTo
    if (!isCurrent) continue
    for (const [name, rolledUp] of [
      ['usage_days', days],
      ['usage_hours', hours],
    ] as const) {
      for (const fault of compareSums(sums, rolledUp)) tell({ sequence: null, subject: name, fault })
    }
    break
  }
  for await (const page of readLedger(db, { afterSequence: verifiedTo })) for (const row of page) replay(row, verdict)
  return verdict
}

async function createReplay(db: Database, tell: (fault: LedgerFault) => void) {
  const verifyRow = createRowVerifier(await readPrices(db))
  // PostgreSQL spends numbers on rows that turn out to be there already; SQLite does not.
  const isGapless = !isPostgres(db)
  let before: number | null = null
  return (row: LedgerLine, verdict: { rows: number; costMicros: bigint }) => {
    const subject = `${row.request_id} (${row.kind})`
    if (isGapless && before !== null && row.sequence !== before + 1) {
      tell({ sequence: row.sequence, subject, fault: `the rows from ${before + 1} to ${row.sequence - 1} are missing` })
    }
    before = row.sequence
    const fault = verifyRow(row)
    if (fault !== null) tell({ sequence: row.sequence, subject, fault })
    verdict.rows += 1
    verdict.costMicros += BigInt(row.cost_micros ?? 0)
  }
}
