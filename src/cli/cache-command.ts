import { loadConfig } from '../config/load.ts'
import type { RequestId } from '../core/ids.ts'
import { findLedgerRow, type LedgerRow } from '../billing/find-ledger-row.ts'
import { openAccounts } from './open-accounts.ts'
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
    if (row === null) throw new Error(`There is no request ${id}. Its id is in the answer's request-id header.`)
    console.log(values.json ? JSON.stringify(row.cache) : explain(row))
  } finally {
    await db.destroy()
  }
}

const sources = {
  slot: 'It went on where the conversation before it had ended.',
  copy: 'It was copied from a request that was under way.',
  memory: 'It was brought back from memory.',
  disk: 'It was brought back from the disk.',
  none: 'Nothing of it could be reused.',
} as const

function explain({ model, usage, cache }: LedgerRow): string {
  const { inputUncached, inputCacheRead, inputCacheWrite } = usage
  const prompt = inputUncached + inputCacheRead + inputCacheWrite
  const lines = [
    `${model}, a prompt of ${prompt} tokens: ${inputCacheRead} reused, ${inputCacheWrite} kept for later, ${inputUncached} neither.`,
  ]
  if (cache === null) return [...lines, 'The engine did not say more.'].join('\n')
  lines.push(sources[cache.source])
  if (cache.differs === null) lines.push('No prompt of the same organization was held.')
  else if (cache.differs.atToken >= prompt) lines.push('The whole prompt was held; its last token is always computed.')
  else {
    const { atToken, in: part } = cache.differs
    lines.push(
      `The nearest prompt that was held is the same up to token ${atToken}; the first difference is in ${part}.`,
    )
    if (inputCacheRead < atToken - 1)
      lines.push('The model cannot go on from just there and took the nearest point before it.')
  }
  return lines.join('\n')
}
