// Groups of a directory as they are told.

import type { Selectable } from 'kysely'
import type { DirectoryGroupId, MemberId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import type { DirectoryGroupTable } from '../../db/tables/directory.ts'
import type { AccountsParts } from '../parts.ts'
import { findDirectory, type DirectoryReference } from './directories.ts'
import type { AskingDirectory } from './directory-tokens.ts'
import { metaOf } from './inside.ts'
import { notThere } from './scim/fault.ts'
import { listResources, narrow, type Listed, type ListRequest, type Narrowing, type Source } from './scim/list.ts'
import type { OpenResource, Resource } from './scim/resource.ts'
import { groups as groupType } from './scim/schema.ts'

export type GroupRow = Selectable<DirectoryGroupTable>
type Reads = Pick<Database, 'selectFrom'>

export type Shown = { readonly baseUrl: string }

export async function findGroup(
  db: Reads,
  { id: directoryId, organizationId }: AskingDirectory,
  id: string,
): Promise<GroupRow> {
  const row = await db
    .selectFrom('directory_groups')
    .selectAll()
    .where('id', '=', id as DirectoryGroupId)
    .where('directory_id', '=', directoryId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notThere()
  return row
}

export async function readMemberIds(db: Reads, { id }: GroupRow): Promise<readonly MemberId[]> {
  const rows = await db
    .selectFrom('directory_group_members')
    .select('member_id')
    .where('group_id', '=', id)
    .orderBy('member_id')
    .execute()
  return rows.map(({ member_id }) => member_id)
}

export async function readGroup(
  { db }: AccountsParts,
  directory: AskingDirectory,
  { id, baseUrl }: Shown & { readonly id: string },
): Promise<Resource> {
  return showOne(db, await findGroup(db, directory, id), { baseUrl })
}

export function toResource({ display_name: displayName, external_id: externalId, attributes }: GroupRow): OpenResource {
  const kept = JSON.parse(attributes) as Resource
  return { displayName, ...(externalId !== null && { externalId }), ...kept }
}

export async function showOne(db: Reads, row: GroupRow, { baseUrl }: Shown): Promise<Resource> {
  const [shown] = await show(db, [row], { baseUrl, hasMembers: true })
  return shown ?? {}
}

type Showing = Shown & { readonly hasMembers: boolean }

async function show(
  db: Reads,
  rows: readonly GroupRow[],
  { baseUrl, hasMembers }: Showing,
): Promise<readonly Resource[]> {
  const ids = rows.map(({ id }) => id)
  const found =
    hasMembers && ids.length > 0
      ? await db
          .selectFrom('directory_group_members')
          .innerJoin('directory_users', 'directory_users.member_id', 'directory_group_members.member_id')
          .select(['group_id', 'directory_users.member_id'])
          .where('group_id', 'in', ids)
          .orderBy('directory_users.position')
          .execute()
      : []
  const membersOf = Map.groupBy(found, ({ group_id }) => group_id)
  return rows.map((row) => {
    const members = (membersOf.get(row.id) ?? []).map(({ member_id: value }) => {
      return { value, $ref: `${baseUrl}/Users/${value}`, type: 'User' }
    })
    const resource = toResource(row)
    return {
      schemas: [groupType.schema.id, ...Object.keys(resource).filter((key) => /^urn:/i.test(key))],
      id: row.id,
      ...resource,
      ...(members.length > 0 && { members }),
      meta: metaOf(groupType, { ...row, location: `${baseUrl}/Groups/${row.id}` }),
    }
  })
}

type Column = 'id' | 'display_name_key' | 'external_id'

const columns: Readonly<Record<string, { readonly column: Column; readonly isCaseExact: boolean }>> = {
  id: { column: 'id', isCaseExact: true },
  displayName: { column: 'display_name_key', isCaseExact: false },
  externalId: { column: 'external_id', isCaseExact: true },
}

/** `hasMembers` says whether anybody asks for the members of the groups; a filter may. */
export async function listGroups(
  { db }: AccountsParts,
  { id, organizationId }: AskingDirectory,
  { baseUrl, hasMembers, ...request }: ListRequest & Showing,
): Promise<Listed> {
  const select = (narrowing: Narrowing<Column> | null) => {
    const all = db.selectFrom('directory_groups').where('directory_id', '=', id)
    const own = all.where('organization_id', '=', organizationId)
    return narrowing === null ? own : own.where(narrowing.column, '=', narrowing.value)
  }
  const source: Source<Column, GroupRow> = {
    async count(narrowing) {
      const query = select(narrowing).select(({ fn }) => fn.countAll<number>().as('count'))
      return Number((await query.executeTakeFirstOrThrow()).count)
    },
    read: (narrowing, { offset, limit }) =>
      select(narrowing).selectAll().orderBy('position').offset(offset).limit(limit).execute(),
    show: (rows) => show(db, rows, { baseUrl, hasMembers: hasMembers || request.filter !== null }),
  }
  return listResources(groupType, source, { ...request, narrowing: narrow(request.filter, columns) })
}

export type DirectoryGroup = { readonly id: DirectoryGroupId; readonly name: string; readonly members: number }

/** What there is to map to roles, by name. */
export async function listDirectoryGroups(
  { db }: AccountsParts,
  principal: Principal,
  reference: DirectoryReference,
): Promise<readonly DirectoryGroup[]> {
  requirePermission(principal, 'directories:read', reference)
  const { id } = await findDirectory(db, reference)
  const rows = await db
    .selectFrom('directory_groups')
    .leftJoin('directory_group_members', 'directory_group_members.group_id', 'directory_groups.id')
    .select(({ fn }) => [
      'directory_groups.id',
      'directory_groups.display_name',
      fn.count<number>('directory_group_members.member_id').as('members'),
    ])
    .where('directory_groups.directory_id', '=', id)
    .groupBy(['directory_groups.id', 'directory_groups.display_name'])
    .orderBy('directory_groups.display_name')
    .execute()
  return rows.map(({ id: groupId, display_name: name, members }) => ({ id: groupId, name, members: Number(members) }))
}
