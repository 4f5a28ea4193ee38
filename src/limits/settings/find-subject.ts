import type { Transaction } from 'kysely'
import type { OrganizationId, ProjectId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'
import type { SubjectReference } from './setting.ts'

/**
 * The one row `id` of whose limits count for a subject; none for what is not there or is another organization's.
 *
 * A key that replaced another goes on under the limits of the first one: set for itself, they would never be in force.
 */
export function findSubject(
  transaction: Transaction<Tables>,
  { organizationId, subject: { kind, id } }: SubjectReference,
) {
  switch (kind) {
    case 'organization': {
      const query = transaction.selectFrom('organizations').select((eb) => eb.ref('id').$castTo<string>().as('id'))
      return query.where('id', '=', id).where('id', '=', organizationId)
    }
    case 'project': {
      const query = transaction.selectFrom('projects').select((eb) => eb.ref('id').$castTo<string>().as('id'))
      return query.where('id', '=', id).where('organization_id', '=', organizationId)
    }
    case 'api-key': {
      const query = transaction.selectFrom('api_keys').select((eb) => eb.ref('quota_id').$castTo<string>().as('id'))
      return query.where('id', '=', id).where('organization_id', '=', organizationId)
    }
  }
}

/** The subjects within some projects, by the row `id` of whose limits count: the projects, and the keys in them. */
export function subjectsIn(db: Database, organizationId: OrganizationId, projects: readonly ProjectId[]) {
  const own = db.selectFrom('projects').select((eb) => eb.ref('id').$castTo<string>().as('id'))
  const keys = db.selectFrom('api_keys').select((eb) => eb.ref('quota_id').$castTo<string>().as('id'))
  return own
    .where('organization_id', '=', organizationId)
    .where('id', 'in', projects)
    .union(keys.where('organization_id', '=', organizationId).where('project_id', 'in', projects))
}
