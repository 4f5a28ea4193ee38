import type { Transaction } from 'kysely'
import type { ConnectionId, SessionId, UserId } from '../../core/ids.ts'
import type { UserPrincipal } from '../../core/principal.ts'
import type { SessionTable, SignInMethod } from '../../db/tables/identity.ts'
import type { Tables } from '../../db/tables.ts'
import { randomId } from '../../lib/random-id.ts'
import { seal, unseal } from '../../lib/seal.ts'
import { readMemberships, readPlace, type ClosedMembership, type Membership } from './memberships.ts'
import { createToken, hashToken, isToken } from './one-time.ts'
import type { SignInParts } from './parts.ts'

/** Somebody who is signed in, as they are at this moment. */
export type Session = {
  readonly id: SessionId
  readonly user: { readonly id: UserId; readonly name: string; readonly email: string }
  /** The person in the installation as a whole, whose role is null for who has none. */
  readonly principal: UserPrincipal
  readonly memberships: readonly Membership[]
  /** Those whose organization has to be entered by its own connection. */
  readonly closed: readonly ClosedMembership[]
  /** The connection that vouches for the person, to its own organization alone; null for who has shown it here. */
  readonly connectionId: ConnectionId | null
  readonly origin: string
  readonly method: SignInMethod
  readonly proof: { readonly method: SignInMethod; readonly atMs: number; readonly freshUntilMs: number }
  readonly idleEndsAtMs: number
  readonly endsAtMs: number
  /** A JSON object. */
  readonly preferences: string
}

/** Where a session begins. */
export type Browser = { readonly origin: string; readonly address: string; readonly agent: string }

/** How a provider vouches for a session. */
export type VouchedBy = {
  readonly connectionId: ConnectionId
  readonly subject: string
  /** How the provider calls its own session; null where it has no name for it. */
  readonly session: string | null
  /** What it has to be told to sign the person out; null where there is nothing. */
  readonly hint: string | null
  /** When the provider has asked who it is; zero where it does not say. */
  readonly provenAtMs: number
  /** When the provider wants it to be over at the latest; null where it does not say. */
  readonly endsAtMs: number | null
}

export type NewSession = Browser & {
  readonly userId: UserId
  readonly method: SignInMethod
  readonly state: SessionTable['state']
  /** Absent where the person has shown it here. */
  readonly vouchedBy?: VouchedBy
}

const agentLengthMax = 300
/** Somebody who has given the password looks for the telephone this long at most. */
const secondFactorMs = 300_000

/** Begins a session, and returns the token that opens it. The person's oldest one ends where there are too many. */
export async function beginSession(
  { clock, signIn }: SignInParts,
  transaction: Transaction<Tables>,
  { userId, method, state, origin, address, agent, vouchedBy }: NewSession,
): Promise<{ readonly id: SessionId; readonly token: string }> {
  const now = clock.nowMs()
  const id: SessionId = `ses_${randomId()}`
  const token = createToken()
  await endOldest(transaction, { userId, state }, { now, keep: signIn.sessionsPerUserMax - 1, idleMs: signIn.idleMs })
  const times = {
    proof_at: vouchedBy === undefined ? now : Math.min(now, vouchedBy.provenAtMs),
    created_at: now,
    last_seen_at: now,
  }
  const lastsMs = state === 'open' ? signIn.sessionMsMax : secondFactorMs
  const ends_at = Math.min(now + lastsMs, vouchedBy?.endsAtMs ?? Infinity)
  const row = { id, token_hash: hashToken(token), user_id: userId, state, origin, method, proof_method: method }
  await transaction
    .insertInto('sessions')
    .values({
      ...row,
      ...times,
      ends_at,
      address,
      agent: agent.slice(0, agentLengthMax),
      connection_id: vouchedBy?.connectionId ?? null,
      sso_subject: vouchedBy?.subject ?? null,
      sso_session: vouchedBy?.session ?? null,
      sso_hint: sealHint(signIn.sealKey, id, vouchedBy?.hint ?? null),
    })
    .execute()
  return { id, token }
}

function sealHint(sealKey: Uint8Array, id: SessionId, hint: string | null): string | null {
  return hint === null ? null : seal(sealKey, `hint of ${id}`, hint)
}

/** What a provider has to be told to sign out whoever is in a session. */
export type Hint = {
  readonly connectionId: ConnectionId
  readonly session: string | null
  readonly hint: string | null
}

/** Finds that; null for a session that no provider vouches for. */
export async function readHint({ db, signIn }: SignInParts, id: SessionId): Promise<Hint | null> {
  const row = await db
    .selectFrom('sessions')
    .select(['connection_id', 'sso_session', 'sso_hint'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (row === undefined || row.connection_id === null) return null
  const hint = row.sso_hint === null ? null : unseal(signIn.sealKey, `hint of ${id}`, row.sso_hint)
  return { connectionId: row.connection_id, session: row.sso_session, hint }
}

/** Of one state: who has given a password alone ends no session of somebody who has given the code as well. */
async function endOldest(
  transaction: Transaction<Tables>,
  { userId, state }: Pick<NewSession, 'userId' | 'state'>,
  { now, keep, idleMs }: { readonly now: number; readonly keep: number; readonly idleMs: number },
): Promise<void> {
  const own = transaction.deleteFrom('sessions').where('user_id', '=', userId)
  await own.where(({ or, eb }) => or([eb('ends_at', '<=', now), eb('last_seen_at', '<=', now - idleMs)])).execute()
  const rows = await transaction
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', userId)
    .where('state', '=', state)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
  const old = rows.slice(Math.max(0, keep)).map(({ id }) => id)
  if (old.length > 0) await own.where('id', 'in', old).execute()
}

/** The row of a session that is neither over nor idle; null for any other token. */
export async function findSessionRow(
  { db, clock, signIn }: SignInParts,
  token: string,
  state: SessionTable['state'],
): Promise<SessionTable | null> {
  if (!isToken(token)) return null
  const now = clock.nowMs()
  const row = await db
    .selectFrom('sessions')
    .selectAll()
    .where('token_hash', '=', hashToken(token))
    .where('state', '=', state)
    .where('ends_at', '>', now)
    .where('last_seen_at', '>', now - signIn.idleMs)
    .executeTakeFirst()
  return row ?? null
}

/** Those of some sessions that are neither over nor idle, found at once for all of them. */
export async function findOpenSessions(
  { db, clock, signIn }: Pick<SignInParts, 'db' | 'clock' | 'signIn'>,
  ids: readonly SessionId[],
): Promise<ReadonlySet<SessionId>> {
  if (ids.length === 0) return new Set()
  const now = clock.nowMs()
  const rows = await db
    .selectFrom('sessions')
    .select('id')
    .where('id', 'in', ids)
    .where('state', '=', 'open')
    .where('ends_at', '>', now)
    .where('last_seen_at', '>', now - signIn.idleMs)
    .execute()
  return new Set(rows.map(({ id }) => id))
}

const seenEveryMs = 30_000

/** Whose session a token opens, with the roles of this moment. Asking keeps it awake, unless nobody has asked for it. */
export async function findSession(
  parts: SignInParts,
  token: string,
  { keepsAwake }: { readonly keepsAwake: boolean },
): Promise<Session | null> {
  const row = await findSessionRow(parts, token, 'open')
  if (row === null) return null
  const user = await parts.db
    .selectFrom('users')
    .innerJoin('user_emails', 'user_emails.user_id', 'users.id')
    .select(['users.name', 'users.installation_role', 'users.preferences', 'user_emails.email'])
    .where('users.id', '=', row.user_id)
    .where('users.disabled_at', 'is', null)
    .executeTakeFirst()
  if (user === undefined) return null
  const place = await readPlace(parts, row)
  if (place === null) return null
  const seenAtMs = keepsAwake ? await noteSeen(parts, row) : row.last_seen_at
  const { idleMs, recentMs } = parts.signIn
  return {
    id: row.id,
    user: { id: row.user_id, name: user.name, email: user.email },
    principal: {
      kind: 'user',
      userId: row.user_id,
      organizationId: null,
      role: row.connection_id === null ? user.installation_role : null,
    },
    ...(await readMemberships(parts, row, place)),
    connectionId: row.connection_id,
    origin: row.origin,
    method: row.method,
    proof: { method: row.proof_method, atMs: row.proof_at, freshUntilMs: row.proof_at + recentMs },
    idleEndsAtMs: Math.min(seenAtMs + idleMs, row.ends_at),
    endsAtMs: row.ends_at,
    preferences: user.preferences,
  }
}

/** Written now and then only: a page asks several times at once. */
async function noteSeen({ db, clock }: SignInParts, { id, last_seen_at }: SessionTable): Promise<number> {
  const now = clock.nowMs()
  if (now - last_seen_at < seenEveryMs) return last_seen_at
  await db.updateTable('sessions').set({ last_seen_at: now }).where('id', '=', id).execute()
  return now
}

/** Notes a proof of who somebody is, and gives the session another token: one that was stolen before it opens nothing. */
export async function renewSession(
  { clock }: SignInParts,
  transaction: Transaction<Tables>,
  { id, method }: { readonly id: SessionId; readonly method: SignInMethod },
): Promise<string> {
  const token = createToken()
  const columns = { token_hash: hashToken(token), proof_method: method, proof_at: clock.nowMs() }
  await transaction.updateTable('sessions').set(columns).where('id', '=', id).execute()
  return token
}
