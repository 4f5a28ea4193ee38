// Users of a directory as they are told: members of its organization that it has made or taken over, and nobody else.

import type { Selectable } from 'kysely'
import type { MemberId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { DirectoryUserTable } from '../../db/tables/directory.ts'
import type { AccountsParts } from '../parts.ts'
import type { AskingDirectory } from './directory-tokens.ts'
import { metaOf } from './inside.ts'
import { notThere } from './scim/fault.ts'
import { listResources, narrow, type Listed, type ListRequest, type Narrowing, type Source } from './scim/list.ts'
import type { OpenResource, Resource } from './scim/resource.ts'
import { users as userType } from './scim/schema.ts'

export type UserRow = Selectable<DirectoryUserTable>
type Reads = Pick<Database, 'selectFrom'>

export async function findUser(
  db: Reads,
  { id: directoryId, organizationId }: AskingDirectory,
  id: string,
): Promise<UserRow> {
  const row = await db
    .selectFrom('directory_users')
    .selectAll()
    .where('member_id', '=', id as MemberId)
    .where('directory_id', '=', directoryId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notThere()
  return row
}

export async function readUser(
  { db }: AccountsParts,
  directory: AskingDirectory,
  { id, baseUrl }: { readonly id: string; readonly baseUrl: string },
): Promise<Resource> {
  return showOne(db, await findUser(db, directory, id), baseUrl)
}

export function toResource({
  user_name: userName,
  external_id: externalId,
  active,
  attributes,
}: UserRow): OpenResource {
  const kept = JSON.parse(attributes) as Resource
  return { userName, ...(externalId !== null && { externalId }), ...kept, active: active === 1 }
}

export async function showOne(db: Reads, row: UserRow, baseUrl: string): Promise<Resource> {
  const [shown] = await show(db, [row], baseUrl)
  return shown ?? {}
}

async function show(db: Reads, rows: readonly UserRow[], baseUrl: string): Promise<readonly Resource[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ member_id }) => member_id)
  const memberships = await db
    .selectFrom('directory_group_members')
    .innerJoin('directory_groups', 'directory_groups.id', 'directory_group_members.group_id')
    .select(['member_id', 'group_id', 'display_name'])
    .where('member_id', 'in', ids)
    .orderBy('directory_groups.position')
    .execute()
  const groupsOf = Map.groupBy(memberships, ({ member_id }) => member_id)
  return rows.map((row) => {
    const groups = (groupsOf.get(row.member_id) ?? []).map(({ group_id: value, display_name: display }) => {
      return { value, $ref: `${baseUrl}/Groups/${value}`, display, type: 'direct' }
    })
    const resource = toResource(row)
    return {
      schemas: [userType.schema.id, ...Object.keys(resource).filter((key) => /^urn:/i.test(key))],
      id: row.member_id,
      ...resource,
      ...(groups.length > 0 && { groups }),
      meta: metaOf(userType, { ...row, location: `${baseUrl}/Users/${row.member_id}` }),
    }
  })
}

type Column = 'member_id' | 'user_name_key' | 'external_id'

const columns: Readonly<Record<string, { readonly column: Column; readonly isCaseExact: boolean }>> = {
  id: { column: 'member_id', isCaseExact: true },
  userName: { column: 'user_name_key', isCaseExact: false },
  externalId: { column: 'external_id', isCaseExact: true },
}

export async function listUsers(
  { db }: AccountsParts,
  { id, organizationId }: AskingDirectory,
  { baseUrl, ...request }: ListRequest & { readonly baseUrl: string },
): Promise<Listed> {
  const select = (narrowing: Narrowing<Column> | null) => {
    const all = db.selectFrom('directory_users').where('directory_id', '=', id)
    const own = all.where('organization_id', '=', organizationId)
    return narrowing === null ? own : own.where(narrowing.column, '=', narrowing.value)
  }
  const source: Source<Column, UserRow> = {
    async count(narrowing) {
      const query = select(narrowing).select(({ fn }) => fn.countAll<number>().as('count'))
      return Number((await query.executeTakeFirstOrThrow()).count)
    },
    read: (narrowing, { offset, limit }) =>
      select(narrowing).selectAll().orderBy('position').offset(offset).limit(limit).execute(),
    show: (rows) => show(db, rows, baseUrl),
  }
  return listResources(userType, source, { ...request, narrowing: narrow(request.filter, columns) })
}
