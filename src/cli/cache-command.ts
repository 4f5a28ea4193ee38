import { loadConfig } from '../config/load.ts'
import type { RequestId } from '../core/ids.ts'
import { findLedgerRow } from '../billing/ledger/find-ledger-row.ts'
import { explainCache } from './explain-cache.ts'
import { openAccounts } from '../service/joins/open-accounts.ts'
import { parseArguments } from './parse-arguments.ts'
import { UsageError } from './usage-error.ts'

const options = { json: { type: 'boolean', default: false } } as const

/** `odyssey cache explain`: how much of a request's prompt was reused, and why no more. */
export async function cacheCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const [action, id] = positionals
  if (action !== 'explain' || id === undefined) throw new UsageError('cache takes explain REQUEST.')
  const { db } = await openAccounts(loadConfig())
  try {
    const row = await findLedgerRow(db, id as RequestId)
    if (row === null)
      throw new Error(
        `There is no request ${id}. Its id is in the answer's header request-id (messages) or x-request-id (chat completions).`,
      )
    console.log(
      values.json ? JSON.stringify({ model: row.model, usage: row.usage, cache: row.cache }) : explainCache(row),
    )
  } finally {
    await db.destroy()
  }
}
