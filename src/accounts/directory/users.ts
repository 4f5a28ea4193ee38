// Users of a directory: members of its organization that it has made or taken over. Nobody else is there for it.

import type { Selectable } from 'kysely'
import type { MemberId } from '../../core/ids.ts'
import { change } from '../../db/change.ts'
import type { MemberTable } from '../../db/tables/accounts.ts'
import { randomId } from '../../lib/random-id.ts'
import { changeAccess } from '../change-access.ts'
import { writeSuspension } from '../leaving/suspend-member.ts'
import { endMembership, requireOwnerStays } from '../members.ts'
import type { AccountsParts } from '../parts.ts'
import type { AskingDirectory } from './directory-tokens.ts'
import { inDirectory, nextPosition, requireVersion, type Inside } from './inside.ts'
import { mapMembers } from './mappings.ts'
import { findUser, showOne, toResource, type UserRow } from './read-users.ts'
import { notUnique, ScimFault } from './scim/fault.ts'
import type { OpenResource, Resource } from './scim/resource.ts'
import { adopt, emailOf, findMember, nameOf, requireUnique, toStored } from './user-rules.ts'

const usersMax = 100_000

type NewUser = { readonly resource: Resource; readonly baseUrl: string }

export async function createUser(
  parts: AccountsParts,
  directory: AskingDirectory,
  { resource, baseUrl }: NewUser,
): Promise<Resource> {
  const make = (inside: Inside) => makeUser(inside, { resource, baseUrl })
  return notingOwners(parts, directory, directory.id, () => inDirectory(parts, directory, make))
}

async function makeUser(inside: Inside, { resource, baseUrl }: NewUser): Promise<Resource> {
  const { parts, directory } = inside
  const stored = toStored(resource)
  await requireUnique(inside, stored, null)
  const position = await nextPosition(inside, 'directory_users')
  if (position > usersMax) await requireRoom(inside)
  const email = emailOf(resource)
  const found = await findMember(inside, email)
  const member = found === null ? await makeMember(inside, resource, email) : await adopt(inside, found, resource)
  const { organizationId, id: directory_id } = directory
  const now = parts.clock.nowMs()
  const row: UserRow = {
    member_id: member.id,
    directory_id,
    organization_id: organizationId,
    position,
    ...stored,
    version: 1,
    created_at: now,
    changed_at: now,
  }
  await inside.transaction.insertInto('directory_users').values(row).execute()
  if (stored.active === 0) await setActive(inside, member, false)
  await mapMembers(inside, [member.id])
  return showOne(inside.transaction, row, baseUrl)
}

async function requireRoom({ transaction, directory }: Inside): Promise<void> {
  const { count } = await transaction
    .selectFrom('directory_users')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('directory_id', '=', directory.id)
    .executeTakeFirstOrThrow()
  if (Number(count) >= usersMax) throw new ScimFault(409, null, `A directory has at most ${usersMax} users here.`)
}

async function makeMember(inside: Inside, resource: Resource, email: string): Promise<Selectable<MemberTable>> {
  const { directory, parts } = inside
  const id: MemberId = `mem_${randomId()}`
  const { organizationId, defaultRole: role, principal } = directory
  const nothing = { removed_at: null, user_id: null, suspended_at: null, suspended_by: null, role_id: null }
  const member: Selectable<MemberTable> = {
    id,
    organization_id: organizationId,
    email,
    name: nameOf(resource, email),
    role,
    ...nothing,
    source: 'scim',
    created_at: parts.clock.nowMs(),
  }
  await changeAccess(parts, principal, { action: 'members:create', organizationId, target: id }, async (same, note) => {
    await same.insertInto('members').values(member).execute()
    note(null, { email, role, user_name: resource['userName'] })
  })
  return member
}

/** Only a refusal of this kind is in the audit: somebody has tried to lock an organization. */
class KeepsOwner extends ScimFault {}

async function keepOwner({ transaction }: Inside, member: Selectable<MemberTable>): Promise<void> {
  await requireOwnerStays(transaction, member).catch((cause: unknown) => {
    throw new KeepsOwner(409, null, cause instanceof Error ? cause.message : 'The last owner stays.')
  })
}

async function readMember({ transaction, directory }: Inside, id: MemberId): Promise<Selectable<MemberTable>> {
  return transaction
    .selectFrom('members')
    .selectAll()
    .where('id', '=', id)
    .where('organization_id', '=', directory.organizationId)
    .executeTakeFirstOrThrow()
}

/** Whom somebody here has suspended stays so, whatever the directory says. */
async function setActive(inside: Inside, member: Selectable<MemberTable>, isActive: boolean): Promise<void> {
  const { parts, directory } = inside
  const { organizationId, principal } = directory
  const { id } = member
  if (!isActive) await keepOwner(inside, member)
  if (isActive ? member.suspended_by !== 'scim' : member.suspended_at !== null) return
  const action = { action: isActive ? 'members:restore' : 'members:suspend', organizationId, target: id }
  const by = isActive ? null : 'scim'
  await changeAccess(parts, principal, action, (same, note) =>
    writeSuspension(same, member, { by, nowMs: parts.clock.nowMs(), note }),
  )
}

export type UserChange = {
  readonly id: string
  /** The version that is to be changed; null is any. */
  readonly ifMatch: string | null
  readonly baseUrl: string
  /** Makes of what is there what shall be there. */
  change(resource: Resource): OpenResource
}

export async function updateUser(
  parts: AccountsParts,
  directory: AskingDirectory,
  wanted: UserChange,
): Promise<Resource> {
  const row = await notingOwners(parts, directory, wanted.id, () =>
    inDirectory(parts, directory, async (inside) => {
      const before = await findUser(inside.transaction, directory, wanted.id)
      requireVersion(wanted.ifMatch, before.version)
      const resource = wanted.change(toResource(before))
      const stored = toStored(resource)
      const after = { ...before, ...stored }
      if (JSON.stringify(after) === JSON.stringify(before)) return before
      const isRenamed = after.user_name_key !== before.user_name_key || after.external_id !== before.external_id
      if (isRenamed) await requireUnique(inside, stored, before.member_id)
      const row = { ...after, version: before.version + 1, changed_at: parts.clock.nowMs() }
      const member = await write(inside, row, { before, resource })
      if (before.active !== row.active) {
        await setActive(inside, member, row.active === 1)
        await mapMembers(inside, [row.member_id])
      }
      return row
    }),
  )
  return showOne(parts.db, row, wanted.baseUrl)
}

type Written = { readonly before: UserRow; readonly resource: Resource }

/** Returns the member as they are now. */
async function write(inside: Inside, row: UserRow, { before, resource }: Written): Promise<Selectable<MemberTable>> {
  const { transaction, parts, directory } = inside
  const { organizationId, principal } = directory
  const action = { action: 'members:provision', organizationId, target: row.member_id }
  return change(parts, principal, action, async (same, note) => {
    const { user_name, user_name_key, external_id, active, attributes, version, changed_at } = row
    await same
      .updateTable('directory_users')
      .set({ user_name, user_name_key, external_id, active, attributes, version, changed_at })
      .where('member_id', '=', row.member_id)
      .where('directory_id', '=', directory.id)
      .execute()
    const member = await readMember(inside, row.member_id)
    const email = await newEmail(inside, member, resource)
    const name = nameOf(resource, email)
    if (email !== member.email || name !== member.name) {
      await transaction
        .updateTable('members')
        .set({ email, name })
        .where('id', '=', member.id)
        .where('organization_id', '=', organizationId)
        .execute()
    }
    const shown = { user_name: before.user_name, email: member.email, version: before.version }
    note(shown, { user_name, email, version })
    return { ...member, email, name }
  })
}

/** Only those whom the directory has made have the address that it says; others keep theirs. */
async function newEmail(inside: Inside, member: Selectable<MemberTable>, resource: Resource): Promise<string> {
  if (member.source !== 'scim') return member.email
  const email = emailOf(resource)
  const other = email === member.email ? null : await findMember(inside, email)
  if (other !== null) throw notUnique('Another member has this e-mail address.')
  return email
}

export async function deleteUser(
  parts: AccountsParts,
  directory: AskingDirectory,
  { id, ifMatch }: Pick<UserChange, 'id' | 'ifMatch'>,
): Promise<void> {
  await notingOwners(parts, directory, id, () =>
    inDirectory(parts, directory, async (inside) => {
      const row = await findUser(inside.transaction, directory, id)
      requireVersion(ifMatch, row.version)
      const member = await readMember(inside, row.member_id)
      await keepOwner(inside, member)
      const action = { action: 'members:remove', organizationId: directory.organizationId, target: row.member_id }
      await changeAccess(inside.parts, directory.principal, action, (same, note) =>
        endMembership(same, member, { nowMs: parts.clock.nowMs(), note }),
      )
    }),
  )
}

async function notingOwners<Result>(
  parts: AccountsParts,
  { organizationId, principal }: AskingDirectory,
  target: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof KeepsOwner) {
      await change(parts, principal, { action: 'directories:refuse', organizationId, target }, (_transaction, note) => {
        note(null, { reason: error.message })
        return Promise.resolve()
      })
    }
    throw error
  }
}
