// Group commit: one wait for the disk makes the rows of many requests durable.

import type { NewLedgerRow } from './ledger-writer.ts'

/** Thrown by a commit for what is wrong with the rows themselves; written alone, the others of the batch still pass. */
export class RowFault extends Error {
  override readonly name = 'RowFault'
}

type Write = {
  readonly rows: readonly NewLedgerRow[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export type GroupedWrites = {
  write(rows: readonly NewLedgerRow[]): Promise<void>
  /** Resolves when nothing is under way any more. */
  idle(): Promise<void>
}

/** SQLite takes at most 32,766 values in one statement, PostgreSQL 65,535, and a row has 36. */
const rowsPerCommitMax = 500

/**
 * Lets writes that arrive while a commit is under way share the next one.
 *
 * A commit waits for the disk, which takes as long for five hundred rows as for
 * one: under load one wait serves hundreds of requests.
 */
export function groupCommits(commit: (rows: readonly NewLedgerRow[]) => Promise<void>): GroupedWrites {
  const waiting: Write[] = []
  let running: Promise<void> | null = null

  function takeBatch(): Write[] {
    let rowCount = 0
    const count = waiting.findIndex(({ rows }) => (rowCount += rows.length) > rowsPerCommitMax)
    return waiting.splice(0, count === -1 ? waiting.length : Math.max(1, count))
  }

  async function commitWaiting(): Promise<void> {
    while (waiting.length > 0) await commitBatch(takeBatch())
    running = null
  }

  async function commitBatch(batch: readonly Write[]): Promise<void> {
    try {
      await commit(batch.flatMap(({ rows }) => rows))
      for (const { resolve } of batch) resolve()
    } catch (error) {
      if (error instanceof RowFault && batch.length > 1) for (const write of batch) await commitBatch([write])
      else for (const { reject } of batch) reject(error)
    }
  }

  return {
    write(rows) {
      return new Promise((resolve, reject) => {
        waiting.push({ rows, resolve, reject })
        // Left to the end of this turn of the event loop, so that requests ending together commit together.
        running ??= new Promise<void>((start) => setImmediate(start)).then(commitWaiting)
      })
    },
    async idle() {
      while (running !== null) await running
    },
  }
}
