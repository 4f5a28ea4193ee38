import type { Selectable, Transaction, Updateable } from 'kysely'
import { conflict } from '../core/error.ts'
import type { MemberId, OrganizationId, ProjectId } from '../core/ids.ts'
import { notFound, requirePermission, visibleProjects } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import { change } from '../db/change.ts'
import type { KeyOwners, ProjectTable } from '../db/tables/accounts.ts'
import type { Tables } from '../db/tables.ts'
import { randomId } from '../lib/random-id.ts'
import { changeAccess } from './change-access.ts'
import { checkName } from './check-name.ts'
import { requireOrganization } from './organizations.ts'
import { readPage, type Page, type PageRequest } from './page.ts'
import type { AccountsParts } from './parts.ts'
import { requireMember } from './read-member.ts'

export type Project = {
  readonly id: ProjectId
  readonly name: string
  readonly createdAtMs: number
  readonly archivedAtMs: number | null
  /** Whose new keys may be in it. */
  readonly keyOwners: KeyOwners
  /** Until when what is said in its requests is kept; null where nothing is. */
  readonly recordedUntilMs: number | null
}

export type ProjectReference = { readonly id: string; readonly organizationId: OrganizationId }

export async function createProject(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, name }: { readonly organizationId: OrganizationId; readonly name: string },
): Promise<ProjectId> {
  requirePermission(principal, 'projects:create', { organizationId })
  const id: ProjectId = `proj_${randomId()}`
  const row = { id, organization_id: organizationId, name: checkName(name), archived_at: null }
  const action = { action: 'projects:create', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    await requireOrganization(transaction, organizationId)
    await transaction
      .insertInto('projects')
      .values({ ...row, created_at: parts.clock.nowMs() })
      .execute()
    note(null, { name: row.name })
  })
  return id
}

export async function listProjects(
  { db, clock }: AccountsParts,
  principal: Principal,
  request: PageRequest & { readonly organizationId: OrganizationId },
): Promise<Page<Project>> {
  const visible = visibleProjects(principal, 'projects:read', request.organizationId)
  if (visible?.length === 0) return { items: [], next: null }
  let query = db.selectFrom('projects').selectAll().where('organization_id', '=', request.organizationId)
  if (visible !== null) query = query.where('id', 'in', visible)
  const nowMs = clock.nowMs()
  return readPage(query, request, (row) => toProject(row, nowMs))
}

function toProject(row: Selectable<ProjectTable>, nowMs: number): Project {
  const { id, name, created_at, archived_at, key_owners, recorded_until } = row
  const recordedUntilMs = endAhead(recorded_until, nowMs)
  return { id, name, createdAtMs: created_at, archivedAtMs: archived_at, keyOwners: key_owners, recordedUntilMs }
}

/** When recording ends; null where it does not go on, or has ended by itself. */
export function endAhead(recordedUntilMs: number | null, nowMs: number): number | null {
  return recordedUntilMs !== null && recordedUntilMs > nowMs ? recordedUntilMs : null
}

export type ProjectChanges = { readonly name?: string; readonly keyOwners?: KeyOwners }

/** Changes what is named. Where keys are service accounts’ alone, those that people have stay, and none is added. */
export async function updateProject(
  parts: AccountsParts,
  principal: Principal,
  reference: ProjectReference,
  { name, keyOwners }: ProjectChanges,
): Promise<void> {
  const { organizationId, id } = reference
  requirePermission(principal, 'projects:update', { organizationId })
  const columns = {
    ...(name !== undefined && { name: checkName(name) }),
    ...(keyOwners !== undefined && { key_owners: keyOwners }),
  }
  const action = { action: 'projects:update', organizationId, target: id }
  await change(parts, principal, action, async (transaction, note) => {
    const project = await findProject(transaction, reference)
    await setProjectColumns(transaction, project, columns)
    const before = { name: project.name, key_owners: project.key_owners }
    note(before, { ...before, ...columns })
  })
}

/** While a project is archived its keys are refused; what was recorded of it stays. */
export async function setProjectArchived(
  parts: AccountsParts,
  principal: Principal,
  reference: ProjectReference,
  isArchived: boolean,
): Promise<void> {
  const { organizationId, id } = reference
  requirePermission(principal, 'projects:archive', { organizationId })
  const action = { action: 'projects:archive', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const project = await findProject(transaction, reference)
    const archived_at = isArchived ? (project.archived_at ?? parts.clock.nowMs()) : null
    await setProjectColumns(transaction, project, { archived_at })
    note({ archived_at: project.archived_at }, { archived_at })
  })
}

export type ProjectMember = ProjectReference & { readonly memberId: MemberId; readonly maySee: boolean }

/** Says whether a developer may see a project. Other roles see every one. */
export async function setProjectMember(
  parts: AccountsParts,
  principal: Principal,
  { id, organizationId, memberId, maySee }: ProjectMember,
): Promise<void> {
  requirePermission(principal, 'members:update', { organizationId })
  const action = { action: 'members:update', organizationId, target: memberId }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const project = await findProject(transaction, { id, organizationId })
    await requireMember(transaction, { organizationId, memberId })
    const row = { organization_id: organizationId, project_id: project.id, member_id: memberId }
    if (maySee) {
      await transaction
        .insertInto('project_members')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    } else {
      await transaction
        .deleteFrom('project_members')
        .where('organization_id', '=', organizationId)
        .where('project_id', '=', project.id)
        .where('member_id', '=', memberId)
        .execute()
    }
    note(null, { project: project.id, may_see: maySee })
  })
}

/** Throws where the organization has no such project. */
export async function findProject(
  db: Pick<Transaction<Tables>, 'selectFrom'>,
  { id, organizationId }: ProjectReference,
): Promise<Selectable<ProjectTable>> {
  const row = await db
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', id as ProjectId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

export async function setProjectColumns(
  transaction: Transaction<Tables>,
  project: Pick<ProjectTable, 'id' | 'organization_id'>,
  columns: Updateable<ProjectTable>,
): Promise<void> {
  await transaction
    .updateTable('projects')
    .set(columns)
    .where('id', '=', project.id)
    .where('organization_id', '=', project.organization_id)
    .execute()
}

export async function readProject(
  { db, clock }: AccountsParts,
  principal: Principal,
  { id, organizationId }: ProjectReference,
): Promise<Project> {
  requirePermission(principal, 'projects:read', { organizationId, projectId: id as ProjectId })
  return toProject(await findProject(db, { id, organizationId }), clock.nowMs())
}

type InOrganization = { readonly organizationId: OrganizationId; readonly projectId: ProjectId }

/** Throws where one of the projects is not the organization's. */
export async function requireProjects(
  transaction: Transaction<Tables>,
  organizationId: OrganizationId,
  projectIds: readonly ProjectId[],
): Promise<void> {
  const ids = [...new Set(projectIds)]
  if (ids.length === 0) return
  const found = await transaction
    .selectFrom('projects')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', 'in', ids)
    .execute()
  if (found.length < ids.length) throw notFound()
}

/** Throws for a project that is not there or is archived: nothing new is made in it. */
export async function requireActiveProject(
  transaction: Transaction<Tables>,
  { organizationId, projectId }: InOrganization,
): Promise<Selectable<ProjectTable>> {
  const project = await transaction
    .selectFrom('projects')
    .selectAll()
    .where('id', '=', projectId)
    .where('organization_id', '=', organizationId)
    .where('archived_at', 'is', null)
    .executeTakeFirst()
  if (project === undefined) throw notFound()
  return project
}

/** As `requireActiveProject`, and throws where keys are service accounts’ alone, so that none goes with who leaves. */
export async function requireKeysOfAnyone(transaction: Transaction<Tables>, where: InOrganization): Promise<void> {
  const { key_owners } = await requireActiveProject(transaction, where)
  if (key_owners === 'anyone') return
  throw conflict('In this project keys are service accounts’ alone.')
}
