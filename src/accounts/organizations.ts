import type { OrganizationId, ProjectId } from '../core/ids.ts'
import { change } from '../db/change.ts'
import type { Database } from '../db/database.ts'
import type { Clock } from '../lib/clock.ts'

export type Home = { readonly organizationId: OrganizationId; readonly projectId: ProjectId }

const defaultHome: Home = { organizationId: 'org_default', projectId: 'proj_default' }

/** The organization and project that keys belong to when none is named; made the first time they are asked for. */
export async function ensureDefaultHome(parts: { readonly db: Database; readonly clock: Clock }): Promise<Home> {
  const { organizationId, projectId } = defaultHome
  const existing = await parts.db.selectFrom('projects').select('id').where('id', '=', projectId).executeTakeFirst()
  if (existing !== undefined) return defaultHome
  const created_at = parts.clock.nowMs()
  await change(
    parts,
    { kind: 'operator' },
    { action: 'organizations:create', organizationId, target: organizationId },
    async (transaction) => {
      // Two processes may start at once on a new data folder; the second finds the rows made.
      const organization = { id: organizationId, name: 'Default', created_at }
      await transaction
        .insertInto('organizations')
        .values(organization)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
      const project = { id: projectId, organization_id: organizationId, name: 'Default', created_at }
      await transaction
        .insertInto('projects')
        .values(project)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
  )
  return defaultHome
}
