import type { CacheReport, Usage } from '../../core/generation.ts'
import type { RequestId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { fromTokenColumns } from './token-columns.ts'

export type LedgerRow = {
  readonly model: string
  readonly usage: Usage
  /** Null where the request never reached a slot. */
  readonly cache: CacheReport | null
}

export async function findLedgerRow(db: Database, requestId: RequestId): Promise<LedgerRow | null> {
  const row = await db
    .selectFrom('ledger')
    .selectAll()
    .where('request_id', '=', requestId)
    .where('kind', '=', 'charge')
    .executeTakeFirst()
  if (row === undefined) return null
  const { cache_source: source, cache_differs_at: atToken, cache_differs_in: part } = row
  const differs = atToken === null ? null : { atToken, in: part ?? '' }
  return {
    model: row.model,
    usage: fromTokenColumns(row),
    cache: source === null ? null : { source, reusedTokens: row.input_cache_read, differs },
  }
}
