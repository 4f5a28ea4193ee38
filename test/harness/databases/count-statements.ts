import { StatementSync } from 'node:sqlite'
import { mock } from 'node:test'
import { Client } from 'pg'

/** What a database is asked while the work goes on, by either driver of this thread; what only begins or ends a transaction is left out. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const asked: string[] = []
  const note = (text: string) => {
    if (!/^\s*(begin|commit|rollback)\b/i.test(text)) asked.push(text)
  }
  const prototype: Record<string, (...values: unknown[]) => unknown> = StatementSync.prototype as never
  const mocks = ['run', 'all', 'get', 'iterate'].map((method) => {
    const original = prototype[method]
    if (original === undefined) throw new Error(`A statement has no ${method}.`)
    return mock.method(prototype, method, function (this: StatementSync, ...values: unknown[]) {
      note(this.sourceSQL)
      return original.apply(this, values)
    })
  })
  const client: { query(...values: unknown[]): unknown } = Client.prototype as never
  const query = client.query
  const queries = mock.method(client, 'query', function (this: Client, ...values: unknown[]) {
    const [first] = values
    note(typeof first === 'string' ? first : String((first as { readonly text?: unknown }).text))
    return query.apply(this, values)
  })
  try {
    await work()
  } finally {
    for (const one of [...mocks, queries]) one.mock.restore()
  }
  return asked
}
