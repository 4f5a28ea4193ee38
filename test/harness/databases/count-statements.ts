import { StatementSync } from 'node:sqlite'
import { mock } from 'node:test'
import { Client } from 'pg'

/** What a database is asked while the work goes on, by either driver of this thread; what only begins or ends a transaction is left out. */
export async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const asked: string[] = []
  await watch(work, {
    asked(text) {
      if (!/^\s*(begin|commit|rollback)\b/i.test(text)) asked.push(text)
    },
  })
  return asked
}

/** How many rows a database gives while the work goes on, by either driver of this thread. */
export async function rowsReadBy(work: () => Promise<unknown>): Promise<number> {
  let count = 0
  await watch(work, { given: (rows) => (count += rows) })
  return count
}

type Watcher = {
  asked?(text: string): void
  /** How many rows an answer has. */
  given?(rows: number): void
}

type Methods = Record<string, (...values: unknown[]) => unknown>

async function watch(work: () => Promise<unknown>, { asked, given }: Watcher): Promise<void> {
  const prototype = StatementSync.prototype as never as Methods
  const mocks = ['run', 'all', 'get', 'iterate'].map((method) => {
    const original = prototype[method]
    if (original === undefined) throw new Error(`A statement has no ${method}.`)
    return mock.method(prototype, method, function (this: StatementSync, ...values: unknown[]) {
      asked?.(this.sourceSQL)
      const answer = original.apply(this, values)
      if (Array.isArray(answer)) given?.(answer.length)
      return answer
    })
  })
  const client: { query(...values: unknown[]): unknown } = Client.prototype as never
  const query = client.query
  const queries = mock.method(client, 'query', function (this: Client, ...values: unknown[]) {
    const [first] = values
    asked?.(typeof first === 'string' ? first : String((first as { readonly text?: unknown }).text))
    const answer = query.apply(this, values)
    if (given === undefined) return answer
    return Promise.resolve(answer).then((result) => {
      given((result as { readonly rows: readonly unknown[] }).rows.length)
      return result
    })
  })
  try {
    await work()
  } finally {
    for (const one of [...mocks, queries]) one.mock.restore()
  }
}
