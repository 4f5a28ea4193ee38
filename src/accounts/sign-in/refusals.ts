import { sql } from 'kysely'
import { createHash } from 'node:crypto'
import { ApiError } from '../../core/error.ts'
import type { UserId } from '../../core/ids.ts'
import type { SignInParts } from './parts.ts'

/** Whose account it was on which somebody has tried; nobody outside is told. */
class RefusedUser extends Error {
  readonly userId: UserId

  constructor(userId: UserId) {
    super('The account is there.')
    this.userId = userId
  }
}

/** The same words for every reason: whoever guesses learns nothing of what was wrong. The audit is told whose account it was. */
export function refuseSignIn(userId: UserId | null = null): ApiError {
  const cause = userId === null ? {} : { cause: new RefusedUser(userId) }
  return new ApiError({ code: 'unauthenticated', key: null }, 'That did not sign you in.', cause)
}

export function refusedUserOf({ cause }: ApiError): UserId | null {
  return cause instanceof RefusedUser ? cause.userId : null
}

/** The failures of one account that are answered at once, and how far apart the following ones are. */
const atOnce = 10
const intervalMs = 60_000

/**
 * Counts an attempt to sign in to an account before it is looked at, so that guesses made together count too.
 *
 * The generic cell rate algorithm over all gateways: the row holds the time at which the account would be even with its
 * pace. Throws when there were too many; nobody is locked out for longer than ten minutes.
 */
export async function countAttempt({ db, clock }: SignInParts, email: string): Promise<void> {
  const now = clock.nowMs()
  const latest = now + (atOnce - 1) * intervalMs
  const account = accountOf(email)
  const counted = await db
    .insertInto('sign_in_failures')
    .values({ account, even_at: now + intervalMs })
    .onConflict((conflict) =>
      conflict
        .column('account')
        .doUpdateSet({
          even_at: sql<number>`case when sign_in_failures.even_at > cast(${now} as bigint) then sign_in_failures.even_at
            else cast(${now} as bigint) end + cast(${intervalMs} as bigint)`,
        })
        .where('sign_in_failures.even_at', '<=', latest),
    )
    .returning('even_at')
    .executeTakeFirst()
  if (counted !== undefined) return
  throw new ApiError({ code: 'rate-limited', retryAfterMs: intervalMs }, 'Too many attempts to sign in. Wait a minute.')
}

/** Whoever did sign in was no guesser; rows that have no meaning any more go with it. */
export async function forgetAttempts({ db, clock }: SignInParts, email: string): Promise<void> {
  await db
    .deleteFrom('sign_in_failures')
    .where(({ or, eb }) => or([eb('account', '=', accountOf(email)), eb('even_at', '<', clock.nowMs())]))
    .execute()
}

/** The name under which an address is counted, be it anybody's or not: no address is kept in a readable form. */
function accountOf(email: string): string {
  return createHash('sha256').update(email).digest('hex')
}
