import type { TransactionBuilder } from 'kysely'
import type { Database } from '../database.ts'
import type { Tables } from '../tables.ts'

/** The same database, but for what begins a transaction on it. */
export function withTransactions(db: Database, begin: () => Pick<TransactionBuilder<Tables>, 'execute'>): Database {
  return new Proxy<Database>(db, {
    get(target, name) {
      if (name === 'transaction') return begin
      const value: unknown = Reflect.get(target, name, target)
      // Its methods read private fields, which only the object itself has.
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
