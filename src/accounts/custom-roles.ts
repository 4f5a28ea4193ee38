import type { Selectable, Transaction } from 'kysely'
import { ApiError, conflict, invalidRequest } from '../core/error.ts'
import type { OrganizationId, RoleId } from '../core/ids.ts'
import { covers, notFound, permissions, requirePermission } from '../core/permission.ts'
import type { Principal } from '../core/principal.ts'
import type { Role } from '../core/role.ts'
import type { Database } from '../db/database.ts'
import type { RoleTable } from '../db/tables/accounts.ts'
import type { Tables } from '../db/tables.ts'
import { randomId } from '../lib/random-id.ts'
import { lockOrganization } from './access/lock-organization.ts'
import { changeAccess } from './change-access.ts'
import { checkName } from './check-name.ts'
import { lowerAccess } from './leaving/lower-access.ts'
import type { AccountsParts } from './parts.ts'

/** A role of an organization's own: what is left of a built-in one. */
export type OwnRole = {
  readonly id: RoleId
  readonly name: string
  readonly base: Role
  readonly permissions: readonly string[]
  readonly createdAtMs: number
  /** How many members have it. */
  readonly members: number
}

export type OwnRoleReference = { readonly id: string; readonly organizationId: OrganizationId }

type NewRole = {
  readonly organizationId: OrganizationId
  readonly name: string
  readonly base: Role
  readonly permissions: readonly string[]
}

export async function createRole(
  parts: AccountsParts,
  principal: Principal,
  { organizationId, name, base, permissions: given }: NewRole,
): Promise<RoleId> {
  requirePermission(principal, 'roles:create', { organizationId })
  if (base === 'owner') throw invalidRequest(['base'], 'value', 'Owners are owners whole.')
  const id: RoleId = `role_${randomId()}`
  const row = { name: checkName(name), base, permissions: JSON.stringify(checkPermissions(principal, base, given)) }
  await changeAccess(parts, principal, { action: 'roles:create', organizationId, target: id }, async (same, note) => {
    await lockOrganization(same, organizationId)
    const made = { id, organization_id: organizationId, ...row, created_at: parts.clock.nowMs() }
    await requireFreeName(same, made, row.name)
    await same.insertInto('roles').values(made).execute()
    note(null, { name: row.name, base, permissions: given })
  })
  return id
}

/** Nobody makes a role that may do what they may not. Each permission stands once, in the order of the table. */
function checkPermissions(principal: Principal, base: Role, given: readonly string[]): readonly string[] {
  const unknown = given.findIndex((name) => !permissions.some((known) => known === name))
  if (unknown >= 0) throw invalidRequest(['permissions', unknown], 'value', 'There is no such permission.')
  const chosen = permissions.filter((name) => given.includes(name))
  if (covers(principal, base, { permissions: chosen })) return chosen
  throw new ApiError({ code: 'permission-denied' }, 'A role may not do what whoever makes it may not.')
}

export type OwnRoleChanges = { readonly name?: string; readonly permissions?: readonly string[] }

/** Changes a role, and with it what all who have it may do: what they made by more goes down as with another role. */
export async function updateRole(
  parts: AccountsParts,
  principal: Principal,
  reference: OwnRoleReference,
  { name, permissions: given }: OwnRoleChanges,
): Promise<void> {
  const { organizationId, id } = reference
  requirePermission(principal, 'roles:update', { organizationId })
  await changeAccess(parts, principal, { action: 'roles:update', organizationId, target: id }, async (same, note) => {
    const row = await findRole(same, reference)
    const before = JSON.parse(row.permissions) as string[]
    // Whoever could not have made the role as it is does not change it either.
    checkPermissions(principal, row.base, before)
    const chosen = given === undefined ? before : checkPermissions(principal, row.base, given)
    const columns = { name: name === undefined ? row.name : checkName(name), permissions: JSON.stringify(chosen) }
    await requireFreeName(same, row, columns.name)
    await same
      .updateTable('roles')
      .set(columns)
      .where('id', '=', row.id)
      .where('organization_id', '=', organizationId)
      .execute()
    const lowered = await lowerMembers(parts, same, { row, permissions: chosen })
    note({ name: row.name, permissions: before }, { name: columns.name, permissions: chosen, lowered })
  })
}

async function requireFreeName(
  transaction: Transaction<Tables>,
  { id, organization_id }: Pick<RoleTable, 'id' | 'organization_id'>,
  name: string,
): Promise<void> {
  const other = await transaction
    .selectFrom('roles')
    .select('id')
    .where('organization_id', '=', organization_id)
    .where('name', '=', name)
    .where('id', '!=', id)
    .executeTakeFirst()
  if (other !== undefined) throw conflict('There is a role with this name already.')
}

type Lowering = { readonly row: Selectable<RoleTable>; readonly permissions: readonly string[] }

async function lowerMembers(
  { clock }: AccountsParts,
  transaction: Transaction<Tables>,
  { row, permissions: left }: Lowering,
): Promise<readonly unknown[]> {
  const members = await transaction
    .selectFrom('members')
    .select(['id', 'organization_id'])
    .where('organization_id', '=', row.organization_id)
    .where('role_id', '=', row.id)
    .where('removed_at', 'is', null)
    .execute()
  const lowered: unknown[] = []
  for (const member of members) {
    const custom = { id: row.id, permissions: left }
    const taken = await lowerAccess(transaction, member, { role: row.base, custom, nowMs: clock.nowMs() })
    if (Object.keys(taken).length > 0) lowered.push({ member: member.id, ...taken })
  }
  return lowered
}

/** Removes a role that nobody has. */
export async function removeRole(
  parts: AccountsParts,
  principal: Principal,
  reference: OwnRoleReference,
): Promise<void> {
  const { organizationId, id } = reference
  requirePermission(principal, 'roles:remove', { organizationId })
  await changeAccess(parts, principal, { action: 'roles:remove', organizationId, target: id }, async (same, note) => {
    const row = await findRole(same, reference)
    const members = await countMembers(same, row)
    if (members > 0) throw conflict(`${members} members have this role: give them another first.`)
    await same.deleteFrom('roles').where('id', '=', row.id).where('organization_id', '=', organizationId).execute()
    note({ name: row.name, base: row.base }, null)
  })
}

export async function listRoles(
  { db }: AccountsParts,
  principal: Principal,
  organizationId: OrganizationId,
): Promise<readonly OwnRole[]> {
  requirePermission(principal, 'roles:read', { organizationId })
  const rows = await db
    .selectFrom('roles')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const members = await db
    .selectFrom('members')
    .select(({ fn }) => ['role_id', fn.countAll<number>().as('count')])
    .where('organization_id', '=', organizationId)
    .where('role_id', 'is not', null)
    .where('removed_at', 'is', null)
    .groupBy('role_id')
    .execute()
  const membersOf = new Map(members.map((row) => [row.role_id, row.count]))
  return rows.map((row) => toOwnRole(row, Number(membersOf.get(row.id) ?? 0)))
}

export async function readRole(
  { db }: AccountsParts,
  principal: Principal,
  reference: OwnRoleReference,
): Promise<OwnRole> {
  requirePermission(principal, 'roles:read', reference)
  const row = await findRole(db, reference)
  return toOwnRole(row, await countMembers(db, row))
}

async function findRole(
  db: Pick<Database, 'selectFrom'>,
  { id, organizationId }: OwnRoleReference,
): Promise<Selectable<RoleTable>> {
  const row = await db
    .selectFrom('roles')
    .selectAll()
    .where('id', '=', id as RoleId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

async function countMembers(db: Pick<Database, 'selectFrom'>, row: Selectable<RoleTable>): Promise<number> {
  const { count } = await db
    .selectFrom('members')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', row.organization_id)
    .where('role_id', '=', row.id)
    .where('removed_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

function toOwnRole(row: Selectable<RoleTable>, members: number): OwnRole {
  return {
    id: row.id,
    name: row.name,
    base: row.base,
    permissions: JSON.parse(row.permissions) as string[],
    createdAtMs: row.created_at,
    members,
  }
}
