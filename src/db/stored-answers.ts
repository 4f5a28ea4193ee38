import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import { seal, unseal } from '../lib/seal.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'

/** A request that may be sent again under the key that its sender gave it. */
export type RepeatableRequest = {
  /** Who asks: a key given to a request by somebody else is another key. */
  readonly actor: string
  readonly key: string
  /** Everything that makes it this request and no other. */
  readonly content: readonly string[]
}

export type StoredAnswer = { readonly status: number; readonly body: string }

export type Claim =
  /** It is new: what is answered is to be stored in the same transaction. */
  | { readonly kind: 'new'; store(answer: StoredAnswer): Promise<void> }
  | { readonly kind: 'known'; readonly answer: StoredAnswer }
  /** The key was given to another request. */
  | { readonly kind: 'other' }

export const answersKeptMs = 86_400_000

export type ClaimParts = { readonly nowMs: number; readonly sealKey: Uint8Array }

/**
 * Claims a key for a request, in the transaction that makes its change.
 *
 * Another request with the same key waits until that has ended: it then finds
 * the answer, or a free key where the change has failed.
 */
export async function claimAnswer(
  transaction: Transaction<Tables>,
  request: RepeatableRequest,
  { nowMs, sealKey }: ClaimParts,
): Promise<Claim> {
  const id = digest([request.actor, request.key])
  const fingerprint = digest(request.content)
  await transaction
    .deleteFrom('stored_answers')
    .where('id', '=', id)
    .where('created_at', '<=', nowMs - answersKeptMs)
    .execute()
  const inserted = await transaction
    .insertInto('stored_answers')
    .values({ id, fingerprint, status: null, body: null, created_at: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  if (inserted !== undefined) {
    const store = async ({ status, body }: StoredAnswer) => {
      const columns = { status, body: seal(sealKey, id, body) }
      await transaction.updateTable('stored_answers').set(columns).where('id', '=', id).execute()
    }
    return { kind: 'new', store }
  }
  const row = await transaction.selectFrom('stored_answers').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  if (row.fingerprint !== fingerprint) return { kind: 'other' }
  if (row.status === null || row.body === null) throw new Error('An answer was stored without its content.')
  return { kind: 'known', answer: { status: row.status, body: unseal(sealKey, id, row.body) } }
}

export async function forgetAnswers(db: Database, nowMs: number): Promise<void> {
  await db
    .deleteFrom('stored_answers')
    .where('created_at', '<=', nowMs - answersKeptMs)
    .execute()
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
