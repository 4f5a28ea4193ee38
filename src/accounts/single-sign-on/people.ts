// Whom a provider means. Identity is the connection and the provider's own name for the person, never an e-mail address:
// by that somebody is recognised once at most, where the address is verified on both sides and opens nothing else yet.

import type { Transaction } from 'kysely'
import { domainOf } from '../../config/mail-address.ts'
import type { OrganizationId, UserId } from '../../core/ids.ts'
import type { Principal } from '../../core/principal.ts'
import { joinTransaction } from '../../db/change.ts'
import type { Tables } from '../../db/tables.ts'
import { changeAccess } from '../change-access.ts'
import { checkEmail } from '../check-email.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import { hasAccount } from '../sign-in/users.ts'
import { mayMean } from './answerers.ts'
import { adopt, keepIdentity, makeMember, type Meant, type Recognised } from './become-member.ts'
import type { ConnectionRow } from './read-connections.ts'
import { SsoFault } from './fault.ts'

/** Finds whom a provider means. The organization is locked by then, so that nobody is suspended meanwhile. */
export async function recognise(
  parts: SignInParts,
  transaction: Transaction<Tables>,
  meant: Meant,
): Promise<Recognised> {
  const { connection, claims } = meant
  const known = await transaction
    .updateTable('identities')
    .set({ last_seen_at: parts.clock.nowMs() })
    .where('connection_id', '=', connection.id)
    .where('subject', '=', claims.sub)
    .where('organization_id', '=', connection.organization_id)
    .returning(['user_id', 'is_linked'])
    .executeTakeFirst()
  if (known === undefined) return findUnknown(parts, transaction, meant)
  const found = await findKnown(transaction, connection, known.user_id)
  if (found !== null && known.is_linked === 0 && !(await mayMean(transaction, connection, found.member))) {
    throw new SsoFault('above-answerer')
  }
  return found ?? findReturned(parts, transaction, { ...meant, userId: known.user_id })
}

async function findUnknown(parts: SignInParts, transaction: Transaction<Tables>, meant: Meant): Promise<Recognised> {
  const provisioned = await findProvisioned(transaction, meant)
  if (provisioned !== null) {
    return adopt(parts, transaction, { ...meant, email: provisioned.email, member: provisioned })
  }
  const { connection } = meant
  const email = await readVerifiedEmail(transaction, meant)
  const member = await findMemberOf(transaction, connection.organization_id, email)
  if (member === null && connection.makes_members !== 1) throw new SsoFault('not-known')
  return member === null
    ? makeMember(parts, transaction, { ...meant, email })
    : adopt(parts, transaction, { ...meant, email, member })
}

/**
 * Somebody who was removed comes back as the member whom the directory, or somebody of the organization, has made of them
 * since; the provider’s word alone makes nobody anew who was removed. Their account is the one they had, where it still is.
 */
async function findReturned(
  parts: SignInParts,
  transaction: Transaction<Tables>,
  { userId, ...meant }: Meant & { readonly userId: UserId },
): Promise<Recognised> {
  const member = (await findProvisioned(transaction, meant)) ?? (await findMadeAnew(transaction, meant))
  if (member === null) throw new SsoFault('member-removed')
  const account = (await hasAccount(transaction, userId)) ? userId : null
  return adopt(parts, transaction, { ...meant, email: member.email, member, account })
}

async function findMadeAnew(transaction: Transaction<Tables>, meant: Meant) {
  const email = await readVerifiedEmail(transaction, meant).catch((cause: unknown) => {
    throw cause instanceof SsoFault ? new SsoFault('member-removed', { cause }) : cause
  })
  return findMemberOf(transaction, meant.connection.organization_id, email)
}

/**
 * The member whom a directory of the organization has told of under the provider’s own name for the person, which nobody
 * chooses for themselves; or under a name that is the person’s verified e-mail address. Null where there is not one.
 */
async function findProvisioned(transaction: Transaction<Tables>, { connection, claims }: Meant) {
  const name = claims['email_verified'] === true && typeof claims['email'] === 'string' ? claims['email'] : null
  const rows = await transaction
    .selectFrom('directory_users')
    .innerJoin('members', 'members.id', 'directory_users.member_id')
    .selectAll('members')
    .where('directory_users.organization_id', '=', connection.organization_id)
    .where('members.removed_at', 'is', null)
    .where(({ or, eb }) =>
      or([
        eb('directory_users.external_id', '=', claims.sub),
        ...(name === null ? [] : [eb('directory_users.user_name_key', '=', name.toLowerCase())]),
      ]),
    )
    .limit(2)
    .execute()
  return rows.length === 1 && rows[0] !== undefined ? rows[0] : null
}

/** Null for somebody who is a member of the organization no longer. */
async function findKnown(
  transaction: Transaction<Tables>,
  { organization_id }: ConnectionRow,
  userId: UserId,
): Promise<Recognised | null> {
  const rows = await transaction
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .selectAll('members')
    .select('users.disabled_at')
    .where('members.user_id', '=', userId)
    .where('members.organization_id', '=', organization_id)
    .execute()
  const member = rows.find(({ removed_at }) => removed_at === null)
  if (member === undefined) return null
  if (member.suspended_at !== null || member.disabled_at !== null) throw new SsoFault('member-suspended')
  return { userId, member }
}

/** An address that the provider says it has verified, of a domain that the organization has shown to be its own. */
async function readVerifiedEmail(transaction: Transaction<Tables>, { connection, claims }: Meant): Promise<string> {
  const email = readEmail(claims['email'])
  // A text that says “false” is true to many programs.
  if (claims['email_verified'] !== true) throw new SsoFault('email-unverified')
  const domain = await transaction
    .selectFrom('domains')
    .select('id')
    .where('organization_id', '=', connection.organization_id)
    .where('name', '=', domainOf(email))
    .where('verified_at', 'is not', null)
    .executeTakeFirst()
  if (domain === undefined) throw new SsoFault('domain-unverified')
  return email
}

function readEmail(claim: unknown): string {
  if (typeof claim !== 'string') throw new SsoFault('email-missing')
  // Letters that look like others make another address of what is read as the same.
  if (!/^[!-~]+@[a-zA-Z0-9.-]+$/.test(claim)) throw new SsoFault('email-missing')
  try {
    return checkEmail(claim)
  } catch (cause) {
    throw new SsoFault('email-missing', { cause })
  }
}

/** The member with an address; null where there was never one. */
async function findMemberOf(transaction: Transaction<Tables>, organizationId: OrganizationId, email: string) {
  const rows = await transaction
    .selectFrom('members')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('email', '=', email)
    .execute()
  const member = rows.find(({ removed_at }) => removed_at === null)
  if (member === undefined && rows.length > 0) throw new SsoFault('member-removed')
  return member ?? null
}

/** Links an identity to a person who is signed in in a way of their own, and notes that the connection works. */
export async function linkIdentity(
  parts: SignInParts,
  transaction: Transaction<Tables>,
  { connection, claims, userId }: Meant & { readonly userId: UserId },
): Promise<void> {
  const known = await findKnown(transaction, connection, userId)
  if (known === null) throw new SsoFault('member-removed')
  const { member } = known
  const principal: Principal = { kind: 'user', userId, organizationId: null, role: null }
  const action = { action: 'members:link', organizationId: connection.organization_id, target: member.id }
  await changeAccess({ ...parts, db: joinTransaction(transaction) }, principal, action, async (_same, note) => {
    await keepIdentity(parts, transaction, { connection, subject: claims.sub, userId, isLinked: true })
    await transaction
      .updateTable('connections')
      .set({ tested_by: userId, tested_at: parts.clock.nowMs() })
      .where('id', '=', connection.id)
      .where('organization_id', '=', connection.organization_id)
      .execute()
    note(null, { connection: connection.id, subject: claims.sub })
  })
}
