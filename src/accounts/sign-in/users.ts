import type { Transaction } from 'kysely'
import { type ApiError, conflict } from '../../core/error.ts'
import type { MemberId, OrganizationId, UserId } from '../../core/ids.ts'
import type { UserPrincipal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import { lockChainEnd } from '../../db/audit-chain.ts'
import { change, installationChain, joinTransaction, type AuditedAction } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'
import { randomId } from '../../lib/random-id.ts'
import { checkEmail } from '../check-email.ts'
import { checkName } from '../check-name.ts'
import type { SignInParts } from './parts.ts'
import { hasOwnWay, isStrangerTo, listVouching } from './vouched-addresses.ts'

export type NewUser = {
  readonly name: string
  readonly email: string
  readonly installationRole: Role | null
  /** The organization that has named the person by this address, as whoever it invites or makes a member; absent, none has. */
  readonly namedBy?: OrganizationId
}

/**
 * Makes a person. Throws where somebody signs in with this address already. Three give it up: whoever belongs nowhere any
 * more, so that nothing by which they have signed in opens what the new person has; whoever has nothing but the word of a
 * provider whose organization has not shown the address to be of its own domain; and whoever is a stranger to the
 * organization that has shown it, and has named the new person.
 */
export async function createUser(
  parts: Pick<SignInParts, 'clock' | 'origin'>,
  transaction: Transaction<Tables>,
  { name, email: address, installationRole, namedBy }: NewUser,
): Promise<UserPrincipal> {
  const id: UserId = `usr_${randomId()}`
  const email = checkEmail(address)
  const before = await findUserByEmail(transaction, email)
  if (before !== null) await freeAddress(parts, transaction, { holder: before, successor: id, namedBy })
  const row = { id, name: checkName(name), installation_role: installationRole }
  await transaction
    .insertInto('users')
    .values({ ...row, created_at: parts.clock.nowMs(), disabled_at: null })
    .execute()
  const added = await transaction
    .insertInto('user_emails')
    .values({ email, user_id: id, is_verified: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .returning('email')
    .executeTakeFirst()
  if (added !== undefined) return { kind: 'user', userId: id, organizationId: null, role: installationRole }
  throw taken()
}

function taken(): ApiError {
  return conflict('Somebody signs in with this e-mail address already: sign in as them, and try again.')
}

/** What lets a person in. */
const waysIn = ['passwords', 'passkeys', 'totp', 'recovery_codes', 'one_time_links', 'sessions'] as const

type Freeing = {
  readonly holder: { readonly id: UserId; readonly email: string }
  readonly successor: UserId
  readonly namedBy: OrganizationId | undefined
}

async function freeAddress(
  parts: Pick<SignInParts, 'clock' | 'origin'>,
  transaction: Transaction<Tables>,
  freeing: Freeing,
): Promise<void> {
  await lockChainEnd(transaction, installationChain)
  const { holder, namedBy } = freeing
  if (await belongsNowhere(transaction, holder.id)) return retire(parts, transaction, freeing)
  if (!(await isUnproven(transaction, holder, namedBy))) throw taken()
  await release(parts, transaction, freeing)
}

/**
 * Whether nobody has shown that an account has its address rightly, and it is signed in to by a provider’s word alone. A way
 * in of its own counts for nothing to whose domain it is: any organization may have invited any address.
 */
async function isUnproven(
  transaction: Transaction<Tables>,
  holder: Freeing['holder'],
  namedBy: OrganizationId | undefined,
): Promise<boolean> {
  const { installation_role } = await transaction
    .selectFrom('users')
    .select('installation_role')
    .where('id', '=', holder.id)
    .executeTakeFirstOrThrow()
  if (installation_role !== null || (await listVouching(transaction, holder)).length > 0) return false
  if (!(await hasOwnWay(transaction, holder.id))) return true
  return namedBy !== undefined && (await isStrangerTo(transaction, namedBy, holder))
}

/**
 * Takes an address from an account that goes on without: a directory can name any for the people of its organization, and
 * any organization can invite any, neither of which must keep others from inviting whose it is. What the account is signed
 * in to by, and what it opens, stays its own: a provider knows the person by another name, and so does a passkey.
 */
async function release(
  parts: Pick<SignInParts, 'clock' | 'origin'>,
  transaction: Transaction<Tables>,
  { holder: { id, email }, successor }: Freeing,
): Promise<void> {
  const joined = { ...parts, db: joinTransaction(transaction) }
  const principal: UserPrincipal = { kind: 'user', userId: successor, organizationId: null, role: null }
  await change(joined, principal, ownAction('users:release', id), async (_same, note) => {
    // Of a domain that never is anybody's (RFC 2606). A password opens the account under it.
    const instead = checkEmail(`${id}@address.invalid`)
    await transaction.updateTable('user_emails').set({ email: instead }).where('email', '=', email).execute()
    note({ email }, { email: instead, successor })
  })
}

/** Ends the account of somebody who is no member anywhere and has no part in the installation. */
async function retire(
  parts: Pick<SignInParts, 'clock' | 'origin'>,
  transaction: Transaction<Tables>,
  { holder: { id }, successor }: Freeing,
): Promise<void> {
  const joined = { ...parts, db: joinTransaction(transaction) }
  const principal: UserPrincipal = { kind: 'user', userId: successor, organizationId: null, role: null }
  await change(joined, principal, ownAction('users:disable', id), async (_same, note) => {
    for (const table of waysIn) await transaction.deleteFrom(table).where('user_id', '=', id).execute()
    await transaction.deleteFrom('user_emails').where('user_id', '=', id).execute()
    const disabled_at = parts.clock.nowMs()
    await transaction.updateTable('users').set({ disabled_at }).where('id', '=', id).execute()
    note(null, { disabled_at, successor })
  })
}

/** Whoever is suspended, or a member of an organization that is disabled, belongs there still. */
async function belongsNowhere(transaction: Transaction<Tables>, id: UserId): Promise<boolean> {
  const member = await transaction
    .selectFrom('members')
    .select('id')
    .where('user_id', '=', id)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  const user = await transaction
    .selectFrom('users')
    .select('id')
    .where('id', '=', id)
    .where('installation_role', 'is', null)
    .executeTakeFirst()
  return member === undefined && user !== undefined
}

/** Whether somebody has an account here, which is so until the transaction is over: asked before they become a member. */
export async function hasAccount(transaction: Transaction<Tables>, id: UserId): Promise<boolean> {
  await lockChainEnd(transaction, installationChain)
  const user = await transaction
    .selectFrom('users')
    .select('id')
    .where('id', '=', id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  return user !== undefined
}

/** Whose address this is, as far as they may sign in at all. */
export async function findUserByEmail(
  db: Pick<Database, 'selectFrom'>,
  email: string,
): Promise<{ readonly id: UserId; readonly email: string } | null> {
  const row = await db
    .selectFrom('user_emails')
    .innerJoin('users', 'users.id', 'user_emails.user_id')
    .select(['users.id', 'user_emails.email'])
    .where('user_emails.email', '=', email)
    .where('users.disabled_at', 'is', null)
    .executeTakeFirst()
  return row ?? null
}

/** What a person does to their own account stands in the audit of the installation. */
export function ownAction(action: string, target: string): AuditedAction {
  return { action, organizationId: installationChain, target, needsNoRight: true }
}

/** The person who signs in as a member; null where nobody does yet. */
export async function findMemberUser(
  { db }: Pick<SignInParts, 'db'>,
  { id, organizationId }: { readonly id: MemberId; readonly organizationId: OrganizationId },
): Promise<UserId | null> {
  const row = await db
    .selectFrom('members')
    .select('user_id')
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return row?.user_id ?? null
}

export type Profile = { readonly name: string; readonly email: string; readonly preferences: string }

export async function readProfile({ db }: Pick<SignInParts, 'db'>, userId: UserId): Promise<Profile> {
  return db
    .selectFrom('users')
    .innerJoin('user_emails', 'user_emails.user_id', 'users.id')
    .select(['users.name', 'users.preferences', 'user_emails.email'])
    .where('users.id', '=', userId)
    .executeTakeFirstOrThrow()
}
