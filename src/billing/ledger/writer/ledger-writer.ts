import type { LedgerTable } from '../../../db/tables/billing.ts'

/** A ledger row before the database has numbered it. */
export type NewLedgerRow = Omit<LedgerTable, 'sequence'>

/**
 * Writes ledger rows, and says so only when they would survive a power cut.
 *
 * A row that is there already, by its request id, is left as it is. So a row of
 * which nobody knows whether it was written is simply written again.
 */
export interface LedgerWriter {
  /** Resolves once the rows are durable. Rejects when they are not; those that were valid may be written again. */
  write(rows: readonly NewLedgerRow[]): Promise<void>
  /** Why nothing can be written at the moment; null while all is well. Found out anew every second. */
  fault(): Error | null
  /** Waits for what is under way. */
  close(): Promise<void>
}

/** Tells the operator of faults and their end. */
export type StorageReport = {
  failed(error: unknown, what: string): void
  recovered(what: string): void
}
