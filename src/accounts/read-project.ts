import type { ProjectId } from '../core/ids.ts'
import { notFound, requirePermission } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import type { AccountsParts } from './parts.ts'
import type { Project, ProjectReference } from './projects.ts'

export async function readProject(
  { db }: AccountsParts,
  principal: Principal,
  { id, organizationId }: ProjectReference,
): Promise<Project> {
  requirePermission(principal, 'projects:read', { organizationId, projectId: id as ProjectId })
  const row = await db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', id as ProjectId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return { id: row.id, name: row.name, createdAtMs: row.created_at, archivedAtMs: row.archived_at }
}
