import type { OrganizationId } from '../core/ids.ts'
import type { LimitSubject } from '../core/limit.ts'
import { notFound } from '../core/permission.ts'
import type { Database } from '../db/database.ts'

/** Throws for what is not there, or is another organization's. */
export async function requireSubject(
  db: Pick<Database, 'selectFrom'>,
  organizationId: OrganizationId,
  subject: LimitSubject,
): Promise<void> {
  if ((await find(db, organizationId, subject)) === undefined) throw notFound()
}

function find(
  db: Pick<Database, 'selectFrom'>,
  organizationId: OrganizationId,
  { kind, id }: LimitSubject,
): Promise<{ id: string } | undefined> {
  switch (kind) {
    case 'organization': {
      const isItself = id === organizationId
      const query = db.selectFrom('organizations').select('id').where('id', '=', id)
      return isItself ? query.executeTakeFirst() : Promise.resolve(undefined)
    }
    case 'project':
    case 'api-key':
      return db
        .selectFrom(kind === 'project' ? 'projects' : 'api_keys')
        .select('id')
        .where('id', '=', id)
        .where('organization_id', '=', organizationId)
        .executeTakeFirst()
  }
}
