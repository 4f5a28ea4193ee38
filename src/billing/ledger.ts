import type { CacheReport, Usage } from '../core/generation.ts'
import type { RequestId } from '../core/ids.ts'
import type { ApiKeyPrincipal } from '../core/principal.ts'
import type { Database } from '../db/database.ts'

export type LedgerEntry = {
  readonly requestId: RequestId
  readonly principal: ApiKeyPrincipal
  readonly atMs: number
  readonly model: string
  readonly outcome: 'finished' | 'aborted' | 'failed'
  /** Why a finished generation ended, or the error code of a failed one. */
  readonly reason: string | null
  readonly usage: Usage
  readonly cache: CacheReport | null
  readonly firstEventMs: number | null
  readonly durationMs: number
}

export interface Ledger {
  /** Resolves once the row is on the disk. Appending the same request again changes nothing. */
  append(entry: LedgerEntry): Promise<void>
}

/** SQLite takes at most 32,766 values in one statement and a row has 18. */
const rowsPerCommitMax = 500

/**
 * A ledger in the database.
 *
 * A commit waits for the disk, so the entries that arrive while one is under way
 * share the next: under load one wait serves hundreds of requests.
 */
export function createLedger(db: Database): Ledger {
  const waiting: { entry: LedgerEntry; resolve: () => void; reject: (error: unknown) => void }[] = []
  let isCommitting = false

  async function commitWaiting(): Promise<void> {
    isCommitting = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, rowsPerCommitMax)
      try {
        const rows = batch.map(({ entry }) => toRow(entry))
        await db
          .insertInto('ledger')
          .values(rows)
          .onConflict((conflict) => conflict.doNothing())
          .execute()
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    isCommitting = false
  }

  return {
    append(entry) {
      return new Promise((resolve, reject) => {
        waiting.push({ entry, resolve, reject })
        // Left to the end of this turn of the event loop, so that requests ending together commit together.
        if (!isCommitting) setImmediate(() => !isCommitting && void commitWaiting())
      })
    },
  }
}

function toRow(entry: LedgerEntry) {
  const { requestId, principal, atMs, model, outcome, reason, usage, cache, firstEventMs, durationMs } = entry
  return {
    request_id: requestId,
    at: atMs,
    organization_id: principal.organizationId,
    project_id: principal.projectId,
    api_key_id: principal.apiKeyId,
    model,
    outcome,
    reason,
    input_uncached: usage.inputUncached,
    input_cache_read: usage.inputCacheRead,
    input_cache_write: usage.inputCacheWrite,
    output: usage.output,
    output_thinking: usage.outputThinking,
    first_event_ms: firstEventMs === null ? null : Math.round(firstEventMs),
    duration_ms: Math.round(durationMs),
    cache_source: cache?.source ?? null,
    cache_differs_at: cache?.differs?.atToken ?? null,
    cache_differs_in: cache?.differs?.in ?? null,
  }
}
