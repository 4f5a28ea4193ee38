import { insertRows } from '../../src/billing/ledger/writer/insert-rows.ts'
import type { NewLedgerRow } from '../../src/billing/ledger/writer/ledger-writer.ts'
import type { Database } from '../../src/db/database.ts'

const everyMs = 200

/** Writes rows like those that are given into the ledger, as many a second, each settled now. Returns the way to stop. */
export function writeSteadily(db: Database, like: readonly NewLedgerRow[], perSecond: number): () => Promise<void> {
  const charges = like.filter(({ kind }) => kind === 'charge')
  let written = 0
  let turn: Promise<void> = Promise.resolve()
  const timer = setInterval(() => {
    const rows = Array.from({ length: (perSecond * everyMs) / 1_000 }, (): NewLedgerRow => {
      const row = charges[written % charges.length]
      if (row === undefined) throw new Error('There are no rows to write.')
      written += 1
      return { ...row, request_id: `req_live_${written}`, at: Date.now() }
    })
    turn = turn.then(() => insertRows(db, rows))
  }, everyMs)
  return () => {
    clearInterval(timer)
    return turn
  }
}
