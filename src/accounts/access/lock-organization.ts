import type { Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import { notFound } from '../../core/permission.ts'
import { lockChainEnd } from '../../db/audit-chain.ts'
import { countChange } from '../../db/changes.ts'
import type { Tables } from '../../db/tables.ts'

/**
 * Waits for whoever changes something of the organization, so that of two owners who go at the same moment neither sees
 * the other one stay. Throws where there is no organization.
 */
export async function lockOrganization(transaction: Transaction<Tables>, id: OrganizationId): Promise<void> {
  await lockChainEnd(transaction, id)
  const found = await transaction.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst()
  if (found === undefined) throw notFound()
}

/**
 * Waits for whoever changes who may do what in an organization, before what takes the installation's chain: everybody takes
 * the organization first, then what counts such changes, and that chain last, as two who wait for each other wait for ever.
 */
export async function lockAccess(transaction: Transaction<Tables>, organizationId: OrganizationId): Promise<void> {
  await lockOrganization(transaction, organizationId)
  await countChange(transaction, 'access')
}
