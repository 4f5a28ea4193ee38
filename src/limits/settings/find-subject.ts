import type { Transaction } from 'kysely'
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
