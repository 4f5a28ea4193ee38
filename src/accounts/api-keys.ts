import { createHmac } from 'node:crypto'
import type { ApiKeyId, OrganizationId, ProjectId } from '../core/ids.ts'
import type { ApiKeyPrincipal, Principal } from '../core/principal.ts'
import { change } from '../db/change.ts'
import type { Database } from '../db/database.ts'
import type { Clock } from '../lib/clock.ts'
import { randomId } from '../lib/random-id.ts'
import { createKey, isWellFormedKey } from './key-format.ts'

export type ApiKeys = {
  readonly db: Database
  readonly clock: Clock
  /** Keys are stored as hashes under this secret; with another one none of them is recognised. */
  readonly hashSecret: Uint8Array
}

export type NewApiKey = {
  readonly name: string
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
}

export type ApiKeySummary = {
  readonly id: ApiKeyId
  readonly name: string
  readonly lastFour: string
  readonly createdAtMs: number
  readonly revokedAtMs: number | null
}

/** Makes a key. The answer is the only place where it can ever be read. */
export async function createApiKey(
  parts: ApiKeys,
  principal: Principal,
  { name, organizationId, projectId }: NewApiKey,
): Promise<{ id: ApiKeyId; key: string }> {
  const id: ApiKeyId = `key_${randomId()}`
  const key = createKey()
  await change(parts, principal, { action: 'api-keys:create', organizationId, target: id }, (transaction) =>
    transaction
      .insertInto('api_keys')
      .values({
        id,
        organization_id: organizationId,
        project_id: projectId,
        name,
        key_hash: hashKey(parts, key),
        last_four: key.slice(-4),
        created_at: parts.clock.nowMs(),
        revoked_at: null,
      })
      .execute(),
  )
  return { id, key }
}

/** Whose key this is, or null for one that is unknown or revoked. */
export async function findPrincipal(parts: ApiKeys, key: string): Promise<ApiKeyPrincipal | null> {
  if (!isWellFormedKey(key)) return null
  const row = await parts.db
    .selectFrom('api_keys')
    .select(['id', 'organization_id', 'project_id'])
    .where('key_hash', '=', hashKey(parts, key))
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) return null
  return { kind: 'api-key', apiKeyId: row.id, organizationId: row.organization_id, projectId: row.project_id }
}

export async function listApiKeys({ db }: ApiKeys, organizationId: OrganizationId): Promise<ApiKeySummary[]> {
  const rows = await db
    .selectFrom('api_keys')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    lastFour: row.last_four,
    createdAtMs: row.created_at,
    revokedAtMs: row.revoked_at,
  }))
}

/** Whether there was such a key to revoke. */
export async function revokeApiKey(
  parts: ApiKeys,
  principal: Principal,
  { id, organizationId }: { readonly id: string; readonly organizationId: OrganizationId },
): Promise<boolean> {
  const key = await parts.db
    .selectFrom('api_keys')
    .select('id')
    .where('id', '=', id as ApiKeyId)
    .where('organization_id', '=', organizationId)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  if (key === undefined) return false
  await change(parts, principal, { action: 'api-keys:revoke', organizationId, target: key.id }, (transaction) =>
    transaction.updateTable('api_keys').set({ revoked_at: parts.clock.nowMs() }).where('id', '=', key.id).execute(),
  )
  return true
}

/** The key is random, so one round of a keyed hash is as hard to reverse as many. */
function hashKey({ hashSecret }: ApiKeys, key: string): string {
  return createHmac('sha256', hashSecret).update(key).digest('hex')
}
