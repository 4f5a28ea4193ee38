// What members of a directory's groups are here: their roles and projects. They are worked out anew whenever a group, its
// members, its name or a mapping changes.

import type { Selectable } from 'kysely'
import type { MemberId, ProjectId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import { joinTransaction } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { MemberTable } from '../../db/tables/accounts.ts'
import { changeAccess, withoutNotice } from '../change-access.ts'
import type { AccountsParts } from '../parts.ts'
import { requireProjects } from '../projects.ts'
import {
  applyMapped,
  checkMappings,
  mapGroups,
  type GroupMapping,
  type MappedPart,
} from '../single-sign-on/group-mappings.ts'
import { findDirectory, type DirectoryReference } from './directories.ts'
import type { AskingDirectory } from './directory-tokens.ts'
import type { Inside } from './inside.ts'

type Reads = Pick<Database, 'selectFrom'>
type Mapping = Pick<AskingDirectory, 'id' | 'organizationId' | 'defaultRole'>

async function readMappings(db: Reads, { id }: Pick<Mapping, 'id'>): Promise<readonly GroupMapping[]> {
  const rows = await db
    .selectFrom('directory_mappings')
    .selectAll()
    .where('directory_id', '=', id)
    .orderBy('position')
    .execute()
  return rows.map(({ group_name: group, role, project_ids }) => {
    return { group, role, projectIds: JSON.parse(project_ids) as ProjectId[] }
  })
}

export async function listDirectoryMappings(
  { db }: AccountsParts,
  principal: Principal,
  reference: DirectoryReference,
): Promise<readonly GroupMapping[]> {
  requirePermission(principal, 'directories:read', reference)
  return readMappings(db, await findDirectory(db, reference))
}

/** Replaces all mappings of a directory, and gives its members what they say. */
export async function setDirectoryMappings(
  parts: AccountsParts,
  principal: Principal,
  reference: DirectoryReference,
  mappings: readonly GroupMapping[],
): Promise<void> {
  const { organizationId } = reference
  requirePermission(principal, 'directories:update', { organizationId })
  checkMappings(principal, mappings)
  const action = { action: 'directories:map', organizationId, target: reference.id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const row = await findDirectory(transaction, reference)
    const projectIds = mappings.flatMap((mapping) => mapping.projectIds)
    await requireProjects(transaction, organizationId, projectIds)
    const before = await readMappings(transaction, row)
    await transaction.deleteFrom('directory_mappings').where('directory_id', '=', row.id).execute()
    const of = { directory_id: row.id, organization_id: organizationId }
    const rows = mappings.map(({ group: group_name, role, projectIds }, position) => {
      return { ...of, group_name, position, role, project_ids: JSON.stringify(projectIds) }
    })
    if (rows.length > 0) await transaction.insertInto('directory_mappings').values(rows).execute()
    note({ mappings: before }, { mappings })
    const mapping = { id: row.id, organizationId, defaultRole: row.default_role }
    const found = await mapAll(transaction, mapping, { mappings, ids: null })
    const inside = { ...withoutNotice(parts), db: joinTransaction(transaction) }
    for (const { member, mapped } of found.filter(isChanged)) {
      await applyMapped(inside, transaction, principal, { member, mapped, source: { directory: row.id } })
    }
  })
}

/** Gives members what their groups say. */
export async function mapMembers({ transaction, parts, directory }: Inside, ids: readonly MemberId[]): Promise<void> {
  const mappings = await readMappings(transaction, directory)
  if (mappings.length === 0) return
  for (let from = 0; from < ids.length; from += portion) {
    const found = await mapAll(transaction, directory, { mappings, ids: ids.slice(from, from + portion) })
    for (const { member, mapped } of found.filter(isChanged)) {
      const source = { directory: directory.id }
      await applyMapped(parts, transaction, directory.principal, { member, mapped, source })
    }
  }
}

/** How many ids one statement names. */
const portion = 500

type MappedMember = {
  readonly member: Selectable<MemberTable>
  readonly projects: ReadonlySet<ProjectId>
  readonly mapped: MappedPart
}

function isChanged({ member, projects, mapped }: MappedMember): boolean {
  if (member.role === 'owner') return false
  const isOpened = [...mapped.opened].some((project) => !projects.has(project))
  return member.role !== mapped.role || isOpened || [...mapped.closed].some((project) => projects.has(project))
}

type Chosen = {
  readonly mappings: readonly GroupMapping[]
  /** Null is everybody of the directory. */
  readonly ids: readonly MemberId[] | null
}

/** Finds what members of a directory are by mappings. */
async function mapAll(db: Reads, directory: Mapping, { mappings, ids }: Chosen): Promise<readonly MappedMember[]> {
  if (mappings.length === 0 || ids?.length === 0) return []
  const members = await db
    .selectFrom('members')
    .innerJoin('directory_users', 'directory_users.member_id', 'members.id')
    .selectAll('members')
    .where('directory_users.directory_id', '=', directory.id)
    .$if(ids !== null, (query) => query.where('members.id', 'in', ids ?? []))
    .orderBy('directory_users.position')
    .execute()
  const groups = await db
    .selectFrom('directory_group_members')
    .innerJoin('directory_groups', 'directory_groups.id', 'directory_group_members.group_id')
    .select(['member_id', 'display_name'])
    .where('directory_groups.directory_id', '=', directory.id)
    .$if(ids !== null, (query) => query.where('member_id', 'in', ids ?? []))
    .execute()
  const projects = await db
    .selectFrom('project_members')
    .select(['member_id', 'project_id'])
    .where('organization_id', '=', directory.organizationId)
    .$if(ids !== null, (query) => query.where('member_id', 'in', ids ?? []))
    .execute()
  const groupsOf = Map.groupBy(groups, ({ member_id }) => member_id)
  const projectsOf = Map.groupBy(projects, ({ member_id }) => member_id)
  return members.flatMap((member) => {
    const names = (groupsOf.get(member.id) ?? []).map(({ display_name }) => display_name)
    const mapped = mapGroups(mappings, names, directory.defaultRole)
    const own = new Set((projectsOf.get(member.id) ?? []).map(({ project_id }) => project_id))
    return mapped === null ? [] : [{ member, projects: own, mapped }]
  })
}

/** What a mapping would change of somebody. */
export type MappingChange = {
  readonly id: MemberId
  readonly name: string
  readonly email: string
  readonly roleBefore: Role
  readonly roleAfter: Role
  readonly opened: readonly ProjectId[]
  readonly closed: readonly ProjectId[]
}

/** Tells what mappings would change, and changes nothing. */
export async function previewMappings(
  { db }: AccountsParts,
  principal: Principal,
  reference: DirectoryReference,
  mappings: readonly GroupMapping[],
): Promise<readonly MappingChange[]> {
  const { organizationId } = reference
  requirePermission(principal, 'directories:update', { organizationId })
  checkMappings(principal, mappings)
  const { id, default_role: defaultRole } = await findDirectory(db, reference)
  const found = await mapAll(db, { id, organizationId, defaultRole }, { mappings, ids: null })
  return found.filter(isChanged).map(({ member, projects, mapped }) => ({
    id: member.id,
    name: member.name,
    email: member.email,
    roleBefore: member.role,
    roleAfter: mapped.role,
    opened: [...mapped.opened].filter((project) => !projects.has(project)),
    closed: [...mapped.closed].filter((project) => projects.has(project)),
  }))
}
