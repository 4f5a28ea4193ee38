// Groups of a directory: names with the users that are in them. By the mappings they give roles and projects, and nothing
// else comes of them.

import type { DirectoryGroupId, MemberId } from '../../core/ids.ts'
import { change } from '../../db/change.ts'
import { randomId } from '../../lib/random-id.ts'
import type { AccountsParts } from '../parts.ts'
import type { AskingDirectory } from './directory-tokens.ts'
import { inDirectory, nextPosition, requireVersion, type Inside } from './inside.ts'
import { mapMembers } from './mappings.ts'
import { findGroup, readMemberIds, showOne, toResource, type GroupRow, type Shown } from './read-groups.ts'
import { invalidValue, notUnique, ScimFault } from './scim/fault.ts'
import { isObject, requireSize, type OpenResource, type Resource } from './scim/resource.ts'
import { requireName } from './user-rules.ts'

const groupsMax = 10_000
/** How many rows one statement writes, and how many ids it names. */
const portion = 500

export async function createGroup(
  parts: AccountsParts,
  directory: AskingDirectory,
  { resource, baseUrl }: Shown & { readonly resource: Resource },
): Promise<Resource> {
  return inDirectory(parts, directory, async (inside) => {
    const { organizationId, id: directory_id, principal } = directory
    const stored = toStored(resource)
    await requireUnique(inside, stored, null)
    await requireRoom(inside)
    const id: DirectoryGroupId = `grp_${randomId()}`
    const now = parts.clock.nowMs()
    const position = await nextPosition(inside, 'directory_groups')
    const times = { version: 1, created_at: now, changed_at: now }
    const row: GroupRow = { id, directory_id, organization_id: organizationId, position, ...stored, ...times }
    const members = readMembers(resource)
    const action = { action: 'directory-groups:create', organizationId, target: id }
    await change(inside.parts, principal, action, async (transaction, note) => {
      await transaction.insertInto('directory_groups').values(row).execute()
      await addMembers(inside, row, members)
      note(null, { name: stored.display_name, members: members.length })
    })
    await mapMembers(inside, members)
    return showOne(inside.transaction, row, { baseUrl })
  })
}

async function requireRoom({ transaction, directory }: Inside): Promise<void> {
  const { count } = await transaction
    .selectFrom('directory_groups')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('directory_id', '=', directory.id)
    .executeTakeFirstOrThrow()
  if (Number(count) >= groupsMax) throw new ScimFault(409, null, `A directory has at most ${groupsMax} groups here.`)
}

type Stored = Pick<GroupRow, 'display_name' | 'display_name_key' | 'external_id' | 'attributes'>

function toStored({ displayName, externalId, members: _, schemas: _schemas, ...attributes }: Resource): Stored {
  requireName('displayName', displayName)
  if (externalId !== undefined) requireName('externalId', externalId)
  requireSize(attributes)
  return {
    display_name: displayName,
    display_name_key: displayName.toLowerCase(),
    external_id: externalId ?? null,
    attributes: JSON.stringify(attributes),
  }
}

async function requireUnique(
  { transaction, directory }: Inside,
  stored: Stored,
  own: DirectoryGroupId | null,
): Promise<void> {
  const rows = await transaction
    .selectFrom('directory_groups')
    .select(['id', 'display_name_key'])
    .where('directory_id', '=', directory.id)
    .where(({ or, eb }) =>
      or([
        eb('display_name_key', '=', stored.display_name_key),
        ...(stored.external_id === null ? [] : [eb('external_id', '=', stored.external_id)]),
      ]),
    )
    .execute()
  const other = rows.find(({ id }) => id !== own)
  if (other === undefined) return
  const name = other.display_name_key === stored.display_name_key ? 'displayName' : 'externalId'
  throw notUnique(`Another group has this ${name}.`)
}

/**
 * Whom a group has. An id that has another form than those made here can be nobody's, in no organization: it is left
 * out, as by services that know their users later than their groups, and the answer shows a group without it.
 */
function readMembers({ members }: Resource): readonly MemberId[] {
  const given = Array.isArray(members) ? (members as readonly unknown[]) : []
  const ids = given.flatMap((member) => {
    const { value, type } = isObject(member) ? member : {}
    if (typeof value !== 'string') throw invalidValue('members', 'has the id of a user as its value')
    if (typeof type === 'string' && type.toLowerCase() === 'group') throw invalidValue('members', 'has users alone')
    // PostgreSQL could not even be asked for it.
    if (value.includes('\0')) throw noUser()
    return /^(?:mem|grp)_/.test(value) ? [value as MemberId] : []
  })
  return [...new Set(ids)]
}

/** Throws for somebody who is no user of this directory: of another organization nobody is there. */
async function addMembers(
  { transaction, directory }: Inside,
  { id: group_id, directory_id, organization_id }: GroupRow,
  ids: readonly MemberId[],
): Promise<void> {
  for (let from = 0; from < ids.length; from += portion) {
    const wanted = ids.slice(from, from + portion)
    const known = await transaction
      .selectFrom('directory_users')
      .select('member_id')
      .where('directory_id', '=', directory.id)
      .where('member_id', 'in', wanted)
      .execute()
    if (known.length < wanted.length) throw noUser()
    const rows = wanted.map((member_id) => ({ group_id, member_id, directory_id, organization_id }))
    await transaction.insertInto('directory_group_members').values(rows).execute()
  }
}

function noUser(): ScimFault {
  return invalidValue('members', 'has an id that is no user’s')
}

async function dropMembers({ transaction }: Inside, { id }: GroupRow, ids: readonly MemberId[]): Promise<void> {
  for (let from = 0; from < ids.length; from += portion) {
    await transaction
      .deleteFrom('directory_group_members')
      .where('group_id', '=', id)
      .where('member_id', 'in', ids.slice(from, from + portion))
      .execute()
  }
}

export type GroupChange = Shown & {
  readonly id: string
  /** The version that is to be changed; null is any. */
  readonly ifMatch: string | null
  /** Makes of what is there what shall be there. */
  change(resource: Resource): OpenResource
}

export async function updateGroup(
  parts: AccountsParts,
  directory: AskingDirectory,
  { id, ifMatch, baseUrl, change: alter }: GroupChange,
): Promise<Resource> {
  return inDirectory(parts, directory, async (inside) => {
    const { transaction } = inside
    const before = await findGroup(transaction, directory, id)
    requireVersion(ifMatch, before.version)
    const current = await readMemberIds(transaction, before)
    const members = current.map((value) => ({ value }))
    const resource = alter({ ...toResource(before), ...(members.length > 0 && { members }) })
    const stored = toStored(resource)
    const wanted = readMembers(resource)
    const [known, kept] = [new Set(current), new Set(wanted)]
    const added = wanted.filter((one) => !known.has(one))
    const dropped = current.filter((one) => !kept.has(one))
    const isRenamed = stored.display_name !== before.display_name
    const after = { ...before, ...stored }
    const isChanged = JSON.stringify(after) !== JSON.stringify(before) || added.length > 0 || dropped.length > 0
    if (!isChanged) return showOne(transaction, before, { baseUrl })
    await requireUnique(inside, stored, before.id)
    const row = { ...after, version: before.version + 1, changed_at: parts.clock.nowMs() }
    await write(inside, row, { before, added, dropped })
    await mapMembers(inside, isRenamed ? [...new Set([...current, ...wanted])] : [...added, ...dropped])
    return showOne(transaction, row, { baseUrl })
  })
}

type Written = {
  readonly before: GroupRow
  readonly added: readonly MemberId[]
  readonly dropped: readonly MemberId[]
}

async function write(inside: Inside, row: GroupRow, { before, added, dropped }: Written): Promise<void> {
  const { parts, directory } = inside
  const action = { action: 'directory-groups:update', organizationId: directory.organizationId, target: row.id }
  await change(parts, directory.principal, action, async (transaction, note) => {
    const { display_name, display_name_key, external_id, attributes, version, changed_at } = row
    await transaction
      .updateTable('directory_groups')
      .set({ display_name, display_name_key, external_id, attributes, version, changed_at })
      .where('id', '=', row.id)
      .where('directory_id', '=', directory.id)
      .execute()
    await dropMembers(inside, row, dropped)
    await addMembers(inside, row, added)
    const named = (ids: readonly MemberId[]) => ids.slice(0, portion)
    note({ name: before.display_name }, { name: display_name, added: named(added), removed: named(dropped) })
  })
}

export async function deleteGroup(
  parts: AccountsParts,
  directory: AskingDirectory,
  { id, ifMatch }: Pick<GroupChange, 'id' | 'ifMatch'>,
): Promise<void> {
  await inDirectory(parts, directory, async (inside) => {
    const row = await findGroup(inside.transaction, directory, id)
    requireVersion(ifMatch, row.version)
    const members = await readMemberIds(inside.transaction, row)
    const action = { action: 'directory-groups:remove', organizationId: directory.organizationId, target: row.id }
    await change(inside.parts, directory.principal, action, async (transaction, note) => {
      await transaction
        .deleteFrom('directory_groups')
        .where('id', '=', row.id)
        .where('directory_id', '=', directory.id)
        .execute()
      note({ name: row.display_name, members: members.length }, null)
    })
    await mapMembers(inside, members)
  })
}
