// What becomes of whom a provider means and who has not signed in by it before: the member whom somebody has made of them,
// or one anew, with an account to which the provider's own name for them belongs.

import type { Selectable, Transaction } from 'kysely'
import { ApiError } from '../../core/error.ts'
import type { MemberId, UserId } from '../../core/ids.ts'
import type { UserPrincipal } from '../../core/principal.ts'
import { joinTransaction } from '../../db/change.ts'
import type { MemberTable } from '../../db/tables/accounts.ts'
import type { Tables } from '../../db/tables.ts'
import { isPrintable } from '../../lib/is-printable.ts'
import { randomId } from '../../lib/random-id.ts'
import { changeAccess } from '../change-access.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import { createUser, type NewUser } from '../sign-in/users.ts'
import { mayMean } from './answerers.ts'
import type { ConnectionRow } from './read-connections.ts'
import { SsoFault } from './fault.ts'
import type { Claims } from './oidc/exchange-code.ts'

type Member = Pick<Selectable<MemberTable>, 'id' | 'organization_id' | 'role' | 'role_id'>
/** Somebody as a provider speaks of them. */
export type Meant = { readonly connection: ConnectionRow; readonly claims: Claims }

/** A member who signs in by a connection, found or made. */
export type Recognised = { readonly userId: UserId; readonly member: Member }

type WithEmail = Meant & { readonly email: string }

type Adopting = WithEmail & {
  readonly member: Selectable<MemberTable>
  /** Whose identity it is already; null and absent where a new account is made. */
  readonly account?: UserId | null
}

/** Somebody who was made by a key or a person and has never signed in becomes the member that they are. */
export async function adopt(
  parts: SignInParts,
  transaction: Transaction<Tables>,
  { member, account = null, ...meant }: Adopting,
): Promise<Recognised> {
  if (member.role === 'owner') throw new SsoFault('owner-links-first')
  if (member.user_id !== null) throw new SsoFault('link-first')
  if (member.suspended_at !== null) throw new SsoFault('member-suspended')
  if (!(await mayMean(transaction, meant.connection, member))) throw new SsoFault('above-answerer')
  const user: UserPrincipal =
    account === null
      ? await makeUser(parts, transaction, { ...meant, namedBy: member.organization_id })
      : { kind: 'user', userId: account, organizationId: null, role: null }
  const action = { action: 'members:link', organizationId: member.organization_id, target: member.id }
  await changeAccess({ ...parts, db: joinTransaction(transaction) }, user, action, async (_same, note) => {
    await transaction
      .updateTable('members')
      .set({ user_id: user.userId })
      .where('id', '=', member.id)
      .where('organization_id', '=', member.organization_id)
      .execute()
    note(null, { connection: meant.connection.id, subject: meant.claims.sub })
  })
  return { userId: user.userId, member }
}

/** Somebody unknown becomes a member. */
export async function makeMember(
  parts: SignInParts,
  transaction: Transaction<Tables>,
  meant: WithEmail,
): Promise<Recognised> {
  const { connection, claims, email } = meant
  const user = await makeUser(parts, transaction, meant)
  const id: MemberId = `mem_${randomId()}`
  const { organization_id, default_role: role } = connection
  const action = { action: 'members:create', organizationId: organization_id, target: id }
  await changeAccess({ ...parts, db: joinTransaction(transaction) }, user, action, async (_same, note) => {
    const nothing = { removed_at: null, suspended_at: null, suspended_by: null }
    const person = { email, name: nameOf(claims, email), role, user_id: user.userId, source: 'sso' } as const
    await transaction
      .insertInto('members')
      .values({ id, organization_id, ...person, ...nothing, created_at: parts.clock.nowMs() })
      .execute()
    note(null, { email, role, connection: connection.id, subject: claims.sub })
  })
  return { userId: user.userId, member: { id, organization_id, role, role_id: null } }
}

async function makeUser(
  parts: SignInParts,
  transaction: Transaction<Tables>,
  { connection, claims, email, namedBy }: WithEmail & Pick<NewUser, 'namedBy'>,
) {
  const wanted = {
    name: nameOf(claims, email),
    email,
    installationRole: null,
    ...(namedBy !== undefined && { namedBy }),
  }
  const user = await createUser(parts, transaction, wanted).catch((cause: unknown) => {
    throw cause instanceof ApiError && cause.code === 'conflict' ? new SsoFault('email-taken', { cause }) : cause
  })
  await keepIdentity(parts, transaction, { connection, subject: claims.sub, userId: user.userId, isLinked: false })
  return user
}

/** What a provider calls somebody is shown and decides nothing. */
function nameOf({ name }: Claims, email: string): string {
  const isUsable = typeof name === 'string' && name.trim() !== '' && name.length <= 200 && isPrintable(name)
  return isUsable ? name.trim() : email
}

type NewIdentity = {
  readonly connection: Pick<ConnectionRow, 'id' | 'organization_id'>
  readonly subject: string
  readonly userId: UserId
  /** Whether the person says so themselves. */
  readonly isLinked: boolean
}

/** An identity whose holder is a member no longer is free: it opens nothing, and the provider says whose it is. */
export async function keepIdentity(
  { clock }: Pick<SignInParts, 'clock'>,
  transaction: Transaction<Tables>,
  { connection, subject, userId, isLinked }: NewIdentity,
): Promise<void> {
  const now = clock.nowMs()
  const is_linked = isLinked ? 1 : 0
  const kept = await transaction
    .insertInto('identities')
    .values({
      connection_id: connection.id,
      subject,
      organization_id: connection.organization_id,
      user_id: userId,
      created_at: now,
      last_seen_at: now,
      is_linked,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['connection_id', 'subject'])
        .doUpdateSet({ last_seen_at: now, user_id: userId, is_linked })
        .where(({ or, eb, not, exists, selectFrom }) =>
          or([
            eb('identities.user_id', '=', userId),
            not(
              exists(
                selectFrom('members')
                  .select('members.id')
                  .whereRef('members.user_id', '=', 'identities.user_id')
                  .whereRef('members.organization_id', '=', 'identities.organization_id')
                  .where('members.removed_at', 'is', null),
              ),
            ),
          ]),
        ),
    )
    .returning('user_id')
    .executeTakeFirst()
  if (kept === undefined) throw new SsoFault('identity-taken')
}
