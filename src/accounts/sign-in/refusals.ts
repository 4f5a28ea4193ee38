import { sql } from 'kysely'
import { createHash } from 'node:crypto'
import { ApiError } from '../../core/error.ts'
import type { UserId } from '../../core/ids.ts'
import { networkOf } from '../../lib/network/address-list.ts'
import { knownDevice } from './known-devices.ts'
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

/** Whom somebody wants to sign in as; the person is null where nobody has the address. */
type TriedAccount = { readonly email: string; readonly userId: UserId | null }

/** So many attempts are looked at at once, and the following ones so far apart. */
type Pace = { readonly atOnce: number; readonly intervalMs: number }

/** How often an account is tried in all, from wherever. */
const inAll: Pace = { atOnce: 10, intervalMs: 60_000 }
/** How much of that one network may use up: so whoever asks on and on from one leaves the rest to the person. */
const byNetwork: Pace = { atOnce: 5, intervalMs: 300_000 }
/** What a browser has for itself in which the person has signed in before: guesses from elsewhere take nothing of it. */
const byDevice: Pace = { atOnce: 5, intervalMs: 300_000 }

/**
 * Counts an attempt to sign in to an account before it is looked at, so that guesses made together count too.
 *
 * A known browser that has used up its own is looked at as any other. What is asked for beyond a network's part is not
 * taken from the account's, so one network alone keeps nobody else out. Throws when there were too many.
 */
export async function countAttempt(parts: SignInParts, { email, userId }: TriedAccount): Promise<void> {
  const { db, clock, origin } = parts
  const account = accountOf(email)
  const own = ownOf(account, origin?.address)
  await db.deleteFrom('sign_in_failures').where('even_at', '<', clock.nowMs()).execute()
  const device = knownDevice(parts, userId)
  if (device !== null && (await count(parts, namedWithin(account, device), byDevice))) return
  if (!(await count(parts, own, byNetwork))) {
    throw tooMany('Too many attempts to sign in from here. Wait five minutes.', byNetwork)
  }
  if (await count(parts, account, inAll)) return
  // Nothing was looked at, so whoever waits for others to stop has used up nothing of their own.
  await db
    .updateTable('sign_in_failures')
    .set(({ eb }) => ({ even_at: eb('even_at', '-', byNetwork.intervalMs) }))
    .where('account', '=', own)
    .execute()
  throw tooMany('Too many attempts to sign in. Wait a minute.', inAll)
}

function tooMany(message: string, { intervalMs }: Pace): ApiError {
  return new ApiError({ code: 'rate-limited', retryAfterMs: intervalMs }, message)
}

/**
 * The generic cell rate algorithm over all gateways: the row holds the time at which what is counted would be even with
 * its pace. Tells whether there was room.
 */
async function count({ db, clock }: SignInParts, account: string, { atOnce, intervalMs }: Pace): Promise<boolean> {
  const now = clock.nowMs()
  const latest = now + (atOnce - 1) * intervalMs
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
  return counted !== undefined
}

/**
 * Whoever did sign in was no guesser; those of other networks may be. So from a known browser that one's count is
 * forgotten, and from any other the account's, which theirs went into.
 */
export async function forgetAttempts(parts: SignInParts, { email, userId }: TriedAccount): Promise<void> {
  const account = accountOf(email)
  const device = knownDevice(parts, userId)
  const shared = device === null ? account : namedWithin(account, device)
  await parts.db
    .deleteFrom('sign_in_failures')
    .where('account', 'in', [shared, ownOf(account, parts.origin?.address)])
    .execute()
}

/** The name under which an address is counted, be it anybody's or not: no address is kept in a readable form. */
function accountOf(email: string): string {
  return createHash('sha256').update(email).digest('hex')
}

/** The name under which the attempts of one network at an account are counted. */
function ownOf(account: string, address: string | undefined): string {
  return namedWithin(account, `from ${networkOf(address)}`)
}

function namedWithin(account: string, part: string): string {
  return createHash('sha256').update(`${account} ${part}`).digest('hex')
}
