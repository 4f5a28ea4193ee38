import { ApiError } from '../../core/error.ts'
import type { RowWriter } from './write-ahead/row-writer.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import { toCharge } from './ledger-row.ts'

export interface Ledger {
  /** Resolves once the row is on the disk. Appending the same request again changes nothing. */
  append(entry: LedgerEntry): Promise<void>
  /** Throws `overloaded` while no row can be written: what cannot be recorded is not begun. */
  requireWritable(): void
}

/** A ledger over the writer of its database, which lets entries that arrive together share a commit. */
export function createLedger(rows: RowWriter): Ledger {
  return {
    append: (entry) => rows.write([toCharge(entry)]),
    requireWritable() {
      const fault = rows.fault()
      if (fault === null) return
      const message = 'Requests cannot be recorded at the moment. Please try again.'
      throw new ApiError({ code: 'overloaded', retryAfterMs: 5_000 }, message, { cause: fault })
    },
  }
}
