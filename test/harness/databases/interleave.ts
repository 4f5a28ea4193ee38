import { type RootOperationNode, sql, TableNode } from 'kysely'
import type { Database } from '../../../src/db/database.ts'
import { until } from '../start-service.ts'

/**
 * On PostgreSQL, does one thing up to where it has written to one of the tables, begins the other and lets both go on once
 * that one waits for a lock.
 */
export async function interleave(
  db: Database,
  tables: readonly string[],
  first: (db: Database) => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<void> {
  const [locked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let locking: unknown
  const held = db.withPlugin({
    transformQuery({ node, queryId }) {
      if (tables.includes(writtenBy(node) ?? '')) locking ??= queryId
      return node
    },
    async transformResult({ result, queryId }) {
      if (queryId !== locking) return result
      locked.resolve()
      await goOn.promise
      return result
    },
  })
  const one = first(held)
  await locked.promise
  const other = second()
  const waiting = sql`
    select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until(async () => (await waiting.execute(db)).rows.length > 0, 'The second one waits for nothing.')
  goOn.resolve()
  await Promise.all([one, other])
}

/** The table that a statement adds to, changes or deletes from. */
function writtenBy(node: RootOperationNode): string | undefined {
  if (node.kind === 'InsertQueryNode') return node.into?.table.identifier.name
  const table =
    node.kind === 'UpdateQueryNode' ? node.table : node.kind === 'DeleteQueryNode' ? node.from.froms[0] : undefined
  return table !== undefined && TableNode.is(table) ? table.table.identifier.name : undefined
}
