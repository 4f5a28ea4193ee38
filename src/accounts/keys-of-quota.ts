import type { ApiKeyId } from '../core/ids.ts'
import type { Database } from '../db/database.ts'

/** A key and all that replaced it, one after the other: they share one quota, which has the first one's id. */
export async function keysOfQuota(db: Database, quotaId: ApiKeyId): Promise<ApiKeyId[]> {
  const rows = await db.selectFrom('api_keys').select('id').where('quota_id', '=', quotaId).execute()
  return rows.map(({ id }) => id)
}
