import type { OrganizationId } from '../core/ids.ts'
import type { LimitSubject } from '../core/limit.ts'
import { notFound } from '../core/permission.ts'
import type { Database } from '../db/database.ts'

/**
 * Throws for what is not there, or is another organization's. Returns whose limits count for it.
 *
 * A key that replaced another goes on under the limits of the first one: set for
 * itself, they would never be in force.
 */
export async function requireSubject(
  db: Pick<Database, 'selectFrom'>,
  organizationId: OrganizationId,
  subject: LimitSubject,
): Promise<LimitSubject> {
  const found = await find(db, organizationId, subject)
  if (found === undefined) throw notFound()
  return found
}

async function find(
  db: Pick<Database, 'selectFrom'>,
  organizationId: OrganizationId,
  subject: LimitSubject,
): Promise<LimitSubject | undefined> {
  const { kind, id } = subject
  switch (kind) {
    case 'organization': {
      if (id !== organizationId) return undefined
      const row = await db.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst()
      return row && subject
    }
    case 'project': {
      const query = db.selectFrom('projects').select('id').where('id', '=', id)
      return (await query.where('organization_id', '=', organizationId).executeTakeFirst()) && subject
    }
    case 'api-key': {
      const query = db.selectFrom('api_keys').select('quota_id').where('id', '=', id)
      const row = await query.where('organization_id', '=', organizationId).executeTakeFirst()
      return row && { kind, id: row.quota_id }
    }
  }
}
