import { StatementSync } from 'node:sqlite'
import { mock } from 'node:test'
import { Client } from 'pg'

/** How many rows a database has given while the work went on, by either driver of this thread. */
export async function rowsReadBy(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  const all = StatementSync.prototype.all
  const statements = mock.method(StatementSync.prototype, 'all', function (this: StatementSync, ...values: unknown[]) {
    const rows = Reflect.apply(all, this, values) as unknown[]
    count += rows.length
    return rows
  })
  const client: { query(...values: unknown[]): unknown } = Client.prototype as never
  const query = client.query
  const queries = mock.method(client, 'query', async function (this: Client, ...values: unknown[]) {
    const result = (await query.apply(this, values)) as { readonly rows: readonly unknown[] }
    count += result.rows.length
    return result
  })
  try {
    await work()
  } finally {
    statements.mock.restore()
    queries.mock.restore()
  }
  return count
}
