import { ApiError } from '../../core/error.ts'
import type { SessionId, UserId } from '../../core/ids.ts'
import type { UserPrincipal } from '../../core/principal.ts'
import { change, joinTransaction } from '../../db/change.ts'
import type { SessionTable, SignInMethod } from '../../db/tables/identity.ts'
import { unseal } from '../../lib/seal.ts'
import { normalizeEmail } from '../check-email.ts'
import { hashRecoveryCode } from './one-time.ts'
import { rememberDevice } from './known-devices.ts'
import type { SignInParts } from './parts.ts'
import { checkPasskey, type UsedPasskey } from './passkeys.ts'
import { hashPassword, isOutdated, isPassword } from './passwords.ts'
import { breakGlassMethods, noteBreakGlass } from './memberships.ts'
import { countAttempt, forgetAttempts, refuseSignIn } from './refusals.ts'
import { beginSession, findSessionRow, renewSession, type Browser, type Session } from './sessions.ts'
import { findTotpStep } from './totp.ts'
import { findUserByEmail, ownAction } from './users.ts'

/** The token of a session that was begun, and whether it waits for a second factor. */
export type SignedIn = {
  readonly token: string
  readonly state: SessionTable['state']
  /** What the browser keeps of who has signed in in it; null for what it has. */
  readonly device: string | null
}

export async function signInWithPasskey(parts: SignInParts, used: UsedPasskey, browser: Browser): Promise<SignedIn> {
  return begin(parts, { userId: await checkPasskey(parts, used), method: 'passkey', state: 'open' }, browser)
}

export type GivenPassword = { readonly email: string; readonly password: string }

/** Where the person has an authenticator app the session opens nothing until its code was given too. */
export async function signInWithPassword(
  parts: SignInParts,
  { email, password }: GivenPassword,
  browser: Browser,
): Promise<SignedIn> {
  const userId = await checkPassword(parts, { email, password })
  const state = (await readTotp(parts, userId)) === null ? 'open' : 'totp'
  return begin(parts, { userId, method: 'password', state }, browser)
}

/** What shows a person again or beyond a password. */
export type SecondFactor =
  | { readonly kind: 'totp'; readonly code: string }
  | { readonly kind: 'recovery-code'; readonly code: string }

/** Opens a session that waits for a second factor; it gets another token. */
export async function completeSignIn(parts: SignInParts, token: string, factor: SecondFactor): Promise<SignedIn> {
  const row = await findSessionRow(parts, token, 'totp')
  if (row === null) throw refuseSignIn()
  const tried = { email: await emailOf(parts, row.user_id), userId: row.user_id }
  await countAttempt(parts, tried)
  const method = await checkSecondFactor(parts, row.user_id, factor)
  await forgetAttempts(parts, tried)
  const browser = { origin: row.origin, address: row.address, agent: row.agent }
  await parts.db.deleteFrom('sessions').where('id', '=', row.id).execute()
  return begin(parts, { userId: row.user_id, method, state: 'open' }, browser)
}

/**
 * For somebody whose passkeys are lost, and who has no password: with one the code is its second factor.
 *
 * Not counted, as nobody guesses a code: whoever keeps others from trying passwords does not keep them from this too.
 */
export async function signInWithRecoveryCode(
  parts: SignInParts,
  { email, code }: { readonly email: string; readonly code: string },
  browser: Browser,
): Promise<SignedIn> {
  const user = await findUserByEmail(parts.db, normalizeEmail(email))
  if (user === null || (await hasPassword(parts, user.id))) throw refuseSignIn(user?.id)
  const method = await checkSecondFactor(parts, user.id, { kind: 'recovery-code', code })
  return begin(parts, { userId: user.id, method, state: 'open' }, browser)
}

/** Whatever shows anew who somebody is. */
export type Proof =
  | { readonly kind: 'passkey'; readonly used: UsedPasskey }
  | { readonly kind: 'password'; readonly password: string; readonly factor: SecondFactor | null }

/** Makes the proof of a session fresh. Returns its new token. */
export async function proveAgain(parts: SignInParts, session: Session, proof: Proof): Promise<string> {
  const method = await checkProof(parts, session, proof)
  const action = ownAction('sessions:prove', session.id)
  const token = await change(parts, session.principal, action, (transaction, note) => {
    note(null, { method })
    return renewSession(parts, transaction, { id: session.id, method })
  })
  // Whoever a provider vouches for comes in by it, however they have shown again who they are.
  if (session.connectionId === null) await noteWayPast(parts, session.user.id, method)
  return token
}

async function checkProof(parts: SignInParts, { user }: Session, proof: Proof): Promise<SignInMethod> {
  if (proof.kind === 'passkey') {
    await checkPasskey(parts, proof.used)
    return 'passkey'
  }
  await checkPassword(parts, { email: user.email, password: proof.password })
  if ((await readTotp(parts, user.id)) === null) return 'password'
  if (proof.factor === null) throw refuseSignIn(user.id)
  return checkSecondFactor(parts, user.id, proof.factor)
}

async function checkPassword(parts: SignInParts, { email, password }: GivenPassword): Promise<UserId> {
  if (parts.signIn.passwords === 'off') throw new ApiError({ code: 'not-found' }, 'Passwords are switched off here.')
  const normal = normalizeEmail(email)
  const user = await findUserByEmail(parts.db, normal)
  const tried = { email: normal, userId: user?.id ?? null }
  await countAttempt(parts, tried)
  const phc = user === null ? null : await readPhc(parts, user.id)
  if (!(await isPassword(phc, password)) || user === null || phc === null) throw refuseSignIn(user?.id)
  if ((await readTotp(parts, user.id)) === null) await forgetAttempts(parts, tried)
  if (isOutdated(phc)) {
    const renewed = { phc: await hashPassword(password) }
    await parts.db.updateTable('passwords').set(renewed).where('user_id', '=', user.id).where('phc', '=', phc).execute()
  }
  return user.id
}

/** One that is left of a time when passwords were taken is none. */
async function hasPassword(parts: SignInParts, userId: UserId): Promise<boolean> {
  return parts.signIn.passwords !== 'off' && (await readPhc(parts, userId)) !== null
}

async function readPhc({ db }: SignInParts, userId: UserId): Promise<string | null> {
  const row = await db.selectFrom('passwords').select('phc').where('user_id', '=', userId).executeTakeFirst()
  return row?.phc ?? null
}

async function readTotp({ db }: SignInParts, userId: UserId) {
  const row = await db
    .selectFrom('totp')
    .selectAll()
    .where('user_id', '=', userId)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst()
  return row ?? null
}

async function emailOf({ db }: SignInParts, userId: UserId): Promise<string> {
  const row = await db.selectFrom('user_emails').select('email').where('user_id', '=', userId).executeTakeFirstOrThrow()
  return row.email
}

async function checkSecondFactor(parts: SignInParts, userId: UserId, factor: SecondFactor): Promise<SignInMethod> {
  if (factor.kind === 'totp') {
    await checkTotp(parts, userId, factor.code)
    return 'password+totp'
  }
  const used = await parts.db
    .updateTable('recovery_codes')
    .set({ used_at: parts.clock.nowMs() })
    .where('hash', '=', hashRecoveryCode(parts.hashSecret, factor.code))
    .where('user_id', '=', userId)
    .where('used_at', 'is', null)
    .returning('hash')
    .executeTakeFirst()
  if (used === undefined) throw refuseSignIn(userId)
  return 'recovery-code'
}

/** A code counts once, also when it is sent twice at the same moment. */
async function checkTotp(parts: SignInParts, userId: UserId, code: string): Promise<void> {
  const totp = await readTotp(parts, userId)
  if (totp === null) throw refuseSignIn(userId)
  const secret = unseal(parts.signIn.sealKey, userId, totp.sealed)
  const step = findTotpStep(secret, code, { nowMs: parts.clock.nowMs(), lastStep: totp.last_step })
  if (step === null) throw refuseSignIn(userId)
  const used = await parts.db
    .updateTable('totp')
    .set({ last_step: step })
    .where('user_id', '=', userId)
    .where('last_step', '=', totp.last_step)
    .returning('user_id')
    .executeTakeFirst()
  if (used === undefined) throw refuseSignIn(userId)
}

type Begun = { readonly userId: UserId; readonly method: SignInMethod; readonly state: SessionTable['state'] }

/** Nobody's session is begun but that of who has just shown who they are. */
async function begin(parts: SignInParts, begun: Begun, browser: Browser): Promise<SignedIn> {
  const signedIn = await open(parts, begun, browser)
  if (begun.state === 'open') await noteWayPast(parts, begun.userId, begun.method)
  return signedIn
}

async function open(parts: SignInParts, begun: Begun, browser: Browser): Promise<SignedIn> {
  const { userId, state, method } = begun
  if (state === 'totp') {
    const { token } = await parts.db.transaction().execute((transaction) => {
      return beginSession(parts, transaction, { ...begun, ...browser })
    })
    return { token, state, device: null }
  }
  const user: UserPrincipal = { kind: 'user', userId, organizationId: null, role: null }
  const token = await change(parts, user, ownAction('sessions:create', userId), async (transaction, note) => {
    const made = await beginSession(parts, transaction, { ...begun, ...browser })
    note(null, { method }, made.id)
    return made.token
  })
  return { token, state, device: rememberDevice(parts, userId) }
}

/**
 * Notes a way past an organization's only provider, where what somebody has shown is strong enough to be one.
 *
 * Never inside the transaction that begins the session: that one holds the installation's chain, and organizations are
 * taken before it.
 */
export async function noteWayPast(parts: SignInParts, userId: UserId, method: SignInMethod): Promise<void> {
  if (breakGlassMethods.includes(method)) await noteBreakGlass(parts, { userId, method })
}

/** Ends a session that its own browser wants to end. */
export async function signOut(parts: SignInParts, session: Session): Promise<void> {
  await endSession(parts, session, session.id)
}

async function endSession(parts: SignInParts, { principal }: Session, id: SessionId): Promise<void> {
  await change(parts, principal, ownAction('sessions:revoke', id), async (transaction) => {
    await transaction.deleteFrom('sessions').where('id', '=', id).execute()
  })
}

/** As `begin`, inside the transaction that has just made the person's credential, after which a way past is noted. */
export async function beginInside(
  parts: SignInParts,
  transaction: Parameters<typeof joinTransaction>[0],
  { begun, browser }: { readonly begun: Omit<Begun, 'state'>; readonly browser: Browser },
): Promise<SignedIn> {
  return open({ ...parts, db: joinTransaction(transaction) }, { ...begun, state: 'open' }, browser)
}
