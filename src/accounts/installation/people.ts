import type { Transaction } from 'kysely'
import { conflict, invalidRequest } from '../../core/error.ts'
import type { ManagementKeyId, UserId } from '../../core/ids.ts'
import { notFound, requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import { mayGrant, type Role } from '../../core/role.ts'
import { installationChain, type AuditedAction } from '../../db/change.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { Tables } from '../../db/tables.ts'
import { requireStanding } from '../../db/transactions/require-standing.ts'
import { changeAccess } from '../change-access.ts'
import { requireGrant } from '../members.ts'
import { readPage, type Page, type PageRequest } from '../page.ts'
import type { AccountsParts } from '../parts.ts'
import { findCandidate, type Candidate } from './candidates.ts'

/** What somebody may be who runs the installation: the other roles have no permission there. */
export const installationRoles = ['owner', 'admin', 'auditor'] as const satisfies readonly Role[]
type InstallationRole = (typeof installationRoles)[number]

/** A person with a role in the installation as a whole. */
export type InstallationPerson = {
  readonly id: UserId
  readonly name: string
  readonly email: string
  readonly role: Role
  readonly createdAtMs: number
}

const nowhere = { organizationId: null } as const

export async function listInstallationPeople(
  { db }: Pick<AccountsParts, 'db'>,
  principal: Principal,
  request: PageRequest = {},
): Promise<Page<InstallationPerson>> {
  requirePermission(principal, 'installation:read', nowhere)
  const people = selectPeople(db).as('people')
  return readPage(db.selectFrom(people).selectAll(), request, toPerson)
}

export async function readInstallationPerson(
  { db }: Pick<AccountsParts, 'db'>,
  principal: Principal,
  id: string,
): Promise<InstallationPerson> {
  requirePermission(principal, 'installation:read', nowhere)
  const row = await selectPeople(db)
    .where('users.id', '=', id as UserId)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return toPerson(row)
}

export type NewInstallationPerson = {
  readonly email: string
  /** Who is meant; needed where nobody vouches that the address is theirs. */
  readonly userId?: string | undefined
  readonly role: InstallationRole
}

/** Gives a role to somebody who signs in here already, by their address. Returns who that is. */
export async function addInstallationPerson(
  parts: AccountsParts,
  principal: Principal,
  { email, userId, role }: NewInstallationPerson,
): Promise<UserId> {
  requirePermission(principal, 'installation:update', nowhere)
  requireGrant(principal, role)
  const user = await findCandidate(parts.db, email)
  if (user === null) {
    throw invalidRequest(['email'], 'value', 'Nobody signs in with this address: invite them to an organization first.')
  }
  requireMeant(user, userId)
  const action = installationAction('create', user.id)
  await changeAccess(parts, principal, action, async (transaction, note) => {
    await lockPeople(transaction, principal, user.id)
    if ((await findRole(transaction, user.id)) !== null) {
      throw conflict('They have a role in the installation already.')
    }
    await setRole(transaction, user.id, role)
    note(null, { role })
  })
  return user.id
}

/** Any organization invites any address, and whoever opens its link signs in with it: that gives nobody power over all. */
function requireMeant({ id, name, isProven, organizations }: Candidate, meant: string | undefined): void {
  if (meant === id || (meant === undefined && isProven)) return
  const places = organizations.map((organization) => `${organization.name} (${organization.id})`).join(', ')
  const message =
    meant === undefined ? 'Nobody vouches that this address is theirs.' : 'Somebody else signs in with this address.'
  throw conflict(
    `${message} It is ${name} (${id}), a member of ${places === '' ? 'no organization' : places}. ` +
      'If that is who is meant, send their id as userId.',
  )
}

/**
 * Gives somebody another role in the installation; null takes it away. The last owner stays one, and nobody touches a role
 * above their own. Management keys that they made and could not make any more end with it: they know their secrets.
 */
export async function setInstallationRole(
  parts: AccountsParts,
  principal: Principal,
  { id, role }: { readonly id: string; readonly role: InstallationRole | null },
): Promise<void> {
  requirePermission(principal, 'installation:update', nowhere)
  if (role !== null) requireGrant(principal, role)
  const userId = id as UserId
  const verb = role === null ? 'remove' : 'update'
  await changeAccess(parts, principal, installationAction(verb, userId), async (transaction, note) => {
    await lockPeople(transaction, principal, userId)
    const before = await findRole(transaction, userId)
    if (before === null) throw notFound()
    requireGrant(principal, before)
    if (before === 'owner' && role !== 'owner') await requireAnotherOwner(transaction, userId)
    await setRole(transaction, userId, role)
    const revoked = await revokeKeysBeyond(transaction, { userId, role, nowMs: parts.clock.nowMs() })
    note({ role: before }, { role, ...(revoked.length > 0 && { management_keys_revoked: revoked }) })
  })
}

type Reading = Pick<Transaction<Tables>, 'selectFrom'>

function selectPeople(db: Reading) {
  return db
    .selectFrom('users')
    .innerJoin('user_emails', 'user_emails.user_id', 'users.id')
    .select(['users.id', 'users.name', 'users.created_at', 'user_emails.email'])
    .select((eb) => eb.ref('users.installation_role').$notNull().as('role'))
    .where('users.installation_role', 'is not', null)
    .where('users.disabled_at', 'is', null)
}

type Row = Awaited<ReturnType<ReturnType<typeof selectPeople>['executeTakeFirstOrThrow']>>

function toPerson({ id, name, email, role, created_at }: Row): InstallationPerson {
  return { id, name, email, role, createdAtMs: created_at }
}

/** Whoever asks is asked for their right in `lockPeople`, as nobody's row is to be held before those of all. */
function installationAction(verb: 'create' | 'update' | 'remove', target: UserId): AuditedAction {
  return { action: `installation-members:${verb}`, organizationId: installationChain, target, needsNoRight: true }
}

/**
 * Of two who take the role of the last two owners from each other, one waits for the other and finds that they may not any
 * more. Everybody takes the rows in one order, and before the change is counted, as who only acts by a role does.
 */
async function lockPeople(transaction: Transaction<Tables>, principal: Principal, target: UserId): Promise<void> {
  if (isPostgres(transaction)) {
    await transaction
      .selectFrom('users')
      .select('id')
      .where(({ or, eb }) => or([eb('installation_role', 'is not', null), eb('id', '=', target)]))
      .orderBy('id')
      .forNoKeyUpdate()
      .execute()
  }
  await requireStanding(transaction, principal)
}

async function findRole(transaction: Transaction<Tables>, id: UserId): Promise<Role | null> {
  const row = await transaction
    .selectFrom('users')
    .select('installation_role')
    .where('id', '=', id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  return row?.installation_role ?? null
}

async function setRole(transaction: Transaction<Tables>, id: UserId, role: Role | null): Promise<void> {
  await transaction.updateTable('users').set({ installation_role: role }).where('id', '=', id).execute()
}

async function requireAnotherOwner(transaction: Transaction<Tables>, id: UserId): Promise<void> {
  const other = await transaction
    .selectFrom('users')
    .select('id')
    .where('installation_role', '=', 'owner')
    .where('disabled_at', 'is', null)
    .where('id', '!=', id)
    .executeTakeFirst()
  if (other === undefined) throw conflict('The installation keeps at least one owner.')
}

type Lowered = { readonly userId: UserId; readonly role: Role | null; readonly nowMs: number }

/** The whole line of keys that were made with a key of theirs is theirs, in whatever organization. */
async function revokeKeysBeyond(
  transaction: Transaction<Tables>,
  { userId, role, nowMs }: Lowered,
): Promise<readonly ManagementKeyId[]> {
  const beyond: ManagementKeyId[] = []
  for (let makers: readonly string[] = [userId]; makers.length > 0;) {
    const made = await transaction
      .selectFrom('management_keys')
      .select(['id', 'role', 'revoked_at'])
      .where('created_by', 'in', makers)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    for (const { id, role: given, revoked_at } of made) {
      if (revoked_at === null && (role === null || !mayGrant(role, given))) beyond.push(id)
    }
    makers = made.map(({ id }) => id)
  }
  if (beyond.length > 0) {
    await transaction.updateTable('management_keys').set({ revoked_at: nowMs }).where('id', 'in', beyond).execute()
  }
  return beyond
}
