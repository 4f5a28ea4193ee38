// The tokens of coding agents: one that asks models and is good for an hour, and one by which the next two are fetched.
// Each is exchanged once. One that comes again later was taken from somebody, and ends what both were made of (RFC 9700,
// 4.14.2); within a minute it is another process of the same agent, which has read it before the first one wrote anew.

import type { Transaction } from 'kysely'
import { may } from '../../core/permission.ts'
import type { AgentSignInTable } from '../../db/tables/agents.ts'
import type { Tables } from '../../db/tables.ts'
import { changeAccess } from '../change-access.ts'
import { createKey, hashAgentToken, isWellFormedKey } from '../key-format.ts'
import { readMemberships, readPlace } from '../sign-in/memberships.ts'
import { createToken, hashToken, isToken } from '../sign-in/one-time.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import { ownAction } from '../sign-in/users.ts'
import { endAgents } from './end-agents.ts'

export type AgentTokens = {
  readonly access: string
  readonly refresh: string
  readonly lastsSeconds: number
  /** Whose the agent is, which it shows. */
  readonly email: string
}

/** Why an agent gets none, in the words of RFC 8628 and RFC 6749. */
export type TokenRefusal = 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'invalid_grant'

const accessMs = 3_600_000
/** How often an agent is told to ask, and how much sooner it may be. */
export const pollSeconds = 5
const pollMsMin = (pollSeconds - 1) * 1_000
const sharedMs = 60_000

/**
 * So many times in an hour a sign-in is given its next tokens: each process of an agent asks once, and a person has no
 * more than some dozens. A used token is known again for as long as the agent is signed in, since one that is forgotten
 * could be shown without ending anything; so this is what bounds how many are kept.
 */
const issuedPerHourMax = 100

/** Gives an agent its first tokens, once, as soon as its person has said that it is theirs. */
export async function exchangeDeviceCode(parts: SignInParts, code: string): Promise<AgentTokens | TokenRefusal> {
  if (!isToken(code)) return 'invalid_grant'
  const { db, clock, signIn } = parts
  const now = clock.nowMs()
  const known = db.selectFrom('agent_sign_ins').selectAll().where('device_hash', '=', hashToken(code))
  const row = await known.executeTakeFirst()
  if (row === undefined) return 'invalid_grant'
  if (row.state === 'denied') return 'access_denied'
  if (row.state === 'open') return 'invalid_grant'
  if (row.ends_at <= now) return 'expired_token'
  if (row.state === 'waiting') return poll(parts, row, now)
  return db.transaction().execute(async (transaction) => {
    const opened = await transaction
      .updateTable('agent_sign_ins')
      .set({ state: 'open', ends_at: now + signIn.sessionMsMax })
      .where('id', '=', row.id)
      .where('state', '=', 'allowed')
      .returningAll()
      .executeTakeFirst()
    // Of two that come at once, on whichever gateways, one finds it open.
    return opened === undefined ? 'invalid_grant' : issue(parts, transaction, opened)
  })
}

async function poll({ db }: SignInParts, { id, polled_at }: AgentSignInTable, now: number): Promise<TokenRefusal> {
  await db.updateTable('agent_sign_ins').set({ polled_at: now }).where('id', '=', id).execute()
  return polled_at !== null && now - polled_at < pollMsMin ? 'slow_down' : 'authorization_pending'
}

async function issue(
  { clock, hashSecret }: SignInParts,
  transaction: Transaction<Tables>,
  { id, organization_id, api_key_id, member_id, ends_at }: AgentSignInTable,
): Promise<AgentTokens | TokenRefusal> {
  if (organization_id === null || api_key_id === null || member_id === null) return 'invalid_grant'
  const now = clock.nowMs()
  const access = createKey('agent')
  const refresh = createToken()
  const accessEndsAt = Math.min(now + accessMs, ends_at)
  const whose = { sign_in_id: id, organization_id, api_key_id, used_at: null }
  const hashes = { access: hashAgentToken(hashSecret, access), refresh: hashToken(refresh) }
  await transaction
    .insertInto('agent_tokens')
    .values([
      { token_hash: hashes.access, kind: 'access', ends_at: accessEndsAt, ...whose },
      { token_hash: hashes.refresh, kind: 'refresh', ends_at, ...whose },
    ])
    .execute()
  await transaction.deleteFrom('agent_tokens').where('sign_in_id', '=', id).where('ends_at', '<=', now).execute()
  const { email } = await transaction
    .selectFrom('members')
    .select('email')
    .where('id', '=', member_id)
    .where('organization_id', '=', organization_id)
    .executeTakeFirstOrThrow()
  return { access, refresh, lastsSeconds: Math.floor((accessEndsAt - now) / 1_000), email }
}

/** Gives an agent its next tokens, as long as its person is still let in the way they were, and not too often. */
export async function refreshTokens(
  parts: SignInParts,
  token: string,
): Promise<AgentTokens | 'invalid_grant' | 'slow_down'> {
  const found = isToken(token) ? await findRefresh(parts, token) : null
  if (found === null) return 'invalid_grant'
  const { row, usedAtMs } = found
  const now = parts.clock.nowMs()
  if (usedAtMs !== null && now - usedAtMs > sharedMs) {
    await endStolen(parts, row)
    return 'invalid_grant'
  }
  if (!(await isStillLetIn(parts, row))) return 'invalid_grant'
  return parts.db.transaction().execute(async (transaction) => {
    if ((await countIssued(transaction, row, now)) >= issuedPerHourMax) return 'slow_down'
    await transaction
      .updateTable('agent_tokens')
      .set({ used_at: usedAtMs ?? now })
      .where('token_hash', '=', hashToken(token))
      .execute()
    const issued = await issue(parts, transaction, row)
    return typeof issued === 'string' ? 'invalid_grant' : issued
  })
}

/** How many pairs of tokens were made in the last hour, which is how long the one that asks models is good for. */
async function countIssued(
  transaction: Transaction<Tables>,
  { id }: Pick<AgentSignInTable, 'id'>,
  now: number,
): Promise<number> {
  const { issued } = await transaction
    .selectFrom('agent_tokens')
    .select(({ fn }) => fn.countAll().as('issued'))
    .where('sign_in_id', '=', id)
    .where('kind', '=', 'access')
    .where('ends_at', '>', now)
    .executeTakeFirstOrThrow()
  return Number(issued)
}

async function findRefresh({ db, clock }: SignInParts, token: string) {
  const found = await db
    .selectFrom('agent_tokens')
    .innerJoin('agent_sign_ins', 'agent_sign_ins.id', 'agent_tokens.sign_in_id')
    .selectAll('agent_sign_ins')
    .select('agent_tokens.used_at')
    .where('agent_tokens.token_hash', '=', hashToken(token))
    .where('agent_tokens.kind', '=', 'refresh')
    .where('agent_sign_ins.state', '=', 'open')
    .where('agent_sign_ins.ends_at', '>', clock.nowMs())
    .executeTakeFirst()
  if (found === undefined) return null
  const { used_at: usedAtMs, ...row } = found
  return { row, usedAtMs }
}

/** Signs out an agent one of whose tokens was shown by two. */
async function endStolen(parts: SignInParts, { id, user_id, organization_id }: AgentSignInTable): Promise<void> {
  if (user_id === null || organization_id === null) return
  const nobody = { kind: 'anonymous', organizationId: null, role: null } as const
  const action = { action: 'agents:end', organizationId: organization_id, target: id }
  await changeAccess(parts, nobody, action, async (transaction, note) => {
    note(null, { agents: await endAgents(transaction, { userId: user_id, id }), because: 'a token was used again' })
  })
}

/** Whether the person would be let in now as they were when they said that the agent is theirs. */
async function isStillLetIn(parts: SignInParts, row: AgentSignInTable): Promise<boolean> {
  const { user_id, connection_id, sso_subject, organization_id: organizationId, project_id: projectId } = row
  if (user_id === null || organizationId === null || projectId === null) return false
  const user = await parts.db
    .selectFrom('users')
    .select('id')
    .where('id', '=', user_id)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  const place = await readPlace(parts, { user_id, connection_id, sso_subject })
  if (user === undefined || place === null) return false
  // No proof lasts as long as an agent: the owner who comes in without the provider is none of these.
  const shown = { user_id, connection_id, proof_method: 'password', proof_at: 0 } as const
  const { memberships } = await readMemberships(parts, shown, place)
  const member = memberships.find(({ principal }) => principal.memberId === row.member_id)?.principal
  const target = { organizationId, projectId, ownerId: row.member_id }
  return member !== undefined && may(member, 'models:use', target)
}

/** Signs out the agent that shows one of its tokens. One that is nobody's is as good as gone. */
export async function revokeToken(parts: SignInParts, token: string): Promise<void> {
  const hash = isWellFormedKey(token, 'agent') ? hashAgentToken(parts.hashSecret, token) : hashToken(token)
  const row = await parts.db
    .selectFrom('agent_tokens')
    .innerJoin('agent_sign_ins', 'agent_sign_ins.id', 'agent_tokens.sign_in_id')
    .select(['agent_sign_ins.id', 'agent_sign_ins.user_id'])
    .where('agent_tokens.token_hash', '=', hash)
    .executeTakeFirst()
  const userId = row?.user_id ?? null
  if (row === undefined || userId === null) return
  const user = { kind: 'user', userId, organizationId: null, role: null } as const
  await changeAccess(parts, user, ownAction('agents:end', row.id), async (transaction, note) => {
    note(null, { agents: await endAgents(transaction, { userId, id: row.id }) })
  })
}
