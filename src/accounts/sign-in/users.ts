import type { Transaction } from 'kysely'
import { ApiError } from '../../core/error.ts'
import type { MemberId, OrganizationId, UserId } from '../../core/ids.ts'
import type { UserPrincipal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import { installationChain, type AuditedAction } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'
import { randomId } from '../../lib/random-id.ts'
import { checkEmail } from '../check-email.ts'
import { checkName } from '../check-name.ts'
import type { SignInParts } from './parts.ts'

export type NewUser = { readonly name: string; readonly email: string; readonly installationRole: Role | null }

/** Makes a person. Throws where somebody signs in with this address already. */
export async function createUser(
  { clock }: Pick<SignInParts, 'clock'>,
  transaction: Transaction<Tables>,
  { name, email, installationRole }: NewUser,
): Promise<UserPrincipal> {
  const id: UserId = `usr_${randomId()}`
  const row = { id, name: checkName(name), installation_role: installationRole }
  await transaction
    .insertInto('users')
    .values({ ...row, created_at: clock.nowMs(), disabled_at: null })
    .execute()
  const added = await transaction
    .insertInto('user_emails')
    .values({ email: checkEmail(email), user_id: id, is_verified: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .returning('email')
    .executeTakeFirst()
  if (added !== undefined) return { kind: 'user', userId: id, organizationId: null, role: installationRole }
  throw new ApiError({ code: 'conflict' }, 'Somebody signs in with this e-mail address already.')
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
  return { action, organizationId: installationChain, target }
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
