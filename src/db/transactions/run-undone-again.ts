// Transactions that PostgreSQL undoes because they and others wait for each other, or have each seen what the other
// changes. Nothing of such a transaction is left, and by itself it would have been possible: it is run again.

import type { AccessMode, IsolationLevel, TransactionBuilder } from 'kysely'
import type { Database } from '../database.ts'
import type { Tables } from '../tables.ts'
import { withTransactions } from './with-transactions.ts'

/** Those who meet once rarely meet again, as the one of them that was not undone is done by then. */
const triesMax = 3
const undoneCodes: ReadonlySet<unknown> = new Set(['40001', '40P01'])

/** Whether PostgreSQL has undone something for the sake of others, so that it may work when it is tried again. */
export function isUndone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && undoneCodes.has(error.code)
}

/** Requests ask of one database, so it is wrapped once; what was wrapped is wrapped no more. */
const repeatingOnes = new WeakMap<Database, Database>()

/**
 * The same database, but that a transaction which was undone for the sake of others is run again from its beginning.
 *
 * So what runs in it must change nothing elsewhere that cannot be changed twice.
 */
export function runUndoneAgain(db: Database): Database {
  const repeating = repeatingOnes.get(db) ?? withTransactions(db, () => repeatTransaction(() => db.transaction()))
  repeatingOnes.set(db, repeating)
  repeatingOnes.set(repeating, repeating)
  return repeating
}

type Repeated = Pick<TransactionBuilder<Tables>, 'execute'> & {
  setAccessMode(mode: AccessMode): Repeated
  setIsolationLevel(level: IsolationLevel): Repeated
}

function repeatTransaction(begin: () => TransactionBuilder<Tables>): Repeated {
  return {
    setAccessMode: (mode) => repeatTransaction(() => begin().setAccessMode(mode)),
    setIsolationLevel: (level) => repeatTransaction(() => begin().setIsolationLevel(level)),
    async execute(write) {
      for (let triesLeft = triesMax - 1; ; triesLeft--) {
        try {
          return await begin().execute(write)
        } catch (error) {
          if (triesLeft === 0 || !isUndone(error)) throw error
        }
      }
    },
  }
}
