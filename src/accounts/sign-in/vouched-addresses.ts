// What a provider's word says of an e-mail address, beyond who signs in by it.

import { domainOf } from '../../config/mail-address.ts'
import { conflict } from '../../core/error.ts'
import type { ConnectionId, OrganizationId, UserId } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { Session } from './sessions.ts'

type Reads = Pick<Database, 'selectFrom'>

/**
 * The connections whose organization has shown the domain of somebody’s address to be its own, has them as a member under
 * this address, and knows them by this provider. Nobody else’s word says whose an address is.
 */
export async function listVouching(
  db: Reads,
  { id, email }: { readonly id: UserId; readonly email: string },
): Promise<readonly ConnectionId[]> {
  const rows = await db
    .selectFrom('identities')
    .innerJoin('members', 'members.organization_id', 'identities.organization_id')
    .innerJoin('domains', 'domains.organization_id', 'identities.organization_id')
    .select('identities.connection_id')
    .where('identities.user_id', '=', id)
    .where('members.user_id', '=', id)
    .where('members.email', '=', email)
    .where('members.removed_at', 'is', null)
    .where('domains.name', '=', domainOf(email))
    .where('domains.verified_at', 'is not', null)
    .execute()
  return rows.map(({ connection_id }) => connection_id)
}

/**
 * Throws unless a session that a provider vouches for shows whose its address is, and nothing is lost by a way in that is
 * added to the account there.
 *
 * Whoever looks after the provider could begin such a session themselves. So the account opens nothing yet beyond that
 * provider’s organization, and has no way in of its own: whoever could sign in to it then might be another one.
 */
export async function requireVouched(db: Reads, { user, connectionId, memberships }: Session): Promise<void> {
  const vouching = await listVouching(db, user)
  const [membership] = memberships
  if (membership === undefined || connectionId === null || !vouching.includes(connectionId)) {
    throw conflict(
      'Your provider’s word does not count for this address: its organization has not verified the domain. ' +
        'Sign out, open the link again, and accept it as somebody new.',
    )
  }
  const elsewhere = await db
    .selectFrom('members')
    .select('id')
    .where('user_id', '=', user.id)
    .where('organization_id', '!=', membership.organizationId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  const { installation_role } = await db
    .selectFrom('users')
    .select('installation_role')
    .where('id', '=', user.id)
    .executeTakeFirstOrThrow()
  if (elsewhere === undefined && installation_role === null && !(await hasOwnWay(db, user.id))) return
  throw conflict('You have a way in of your own, or belong elsewhere too: sign in without the connection first.')
}

/**
 * Whether an organization has shown the domain of somebody’s address to be its own, and does not have them as a member under
 * it: so whoever has let them in under the address had nothing to say of whose it is.
 */
export async function isStrangerTo(
  db: Reads,
  organizationId: OrganizationId,
  { id, email }: { readonly id: UserId; readonly email: string },
): Promise<boolean> {
  const domain = await db
    .selectFrom('domains')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('name', '=', domainOf(email))
    .where('verified_at', 'is not', null)
    .executeTakeFirst()
  if (domain === undefined) return false
  const member = await db
    .selectFrom('members')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('user_id', '=', id)
    .where('email', '=', email)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  return member === undefined
}

/** Whether somebody can sign in without any provider. */
export async function hasOwnWay(db: Reads, userId: UserId): Promise<boolean> {
  for (const table of ['passkeys', 'passwords', 'recovery_codes'] as const) {
    const way = await db.selectFrom(table).select('user_id').where('user_id', '=', userId).executeTakeFirst()
    if (way !== undefined) return true
  }
  return false
}
