import type { Transaction, TransactionBuilder } from 'kysely'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'

/**
 * An open transaction that is used like a database: what begins a transaction on it becomes part of the open one.
 *
 * What fails inside must fail the open transaction too, as there is none of its own to undo.
 */
export function joinTransaction(transaction: Transaction<Tables>): Database {
  const joined: Pick<TransactionBuilder<Tables>, 'execute'> = { execute: (write) => write(transaction) }
  return new Proxy<Database>(transaction, {
    get(target, name) {
      if (name === 'transaction') return () => joined
      const value: unknown = Reflect.get(target, name, target)
      // Its methods read private fields, which only the object itself has.
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
