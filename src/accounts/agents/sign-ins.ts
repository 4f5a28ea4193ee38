// How somebody signs in to a coding agent (RFC 8628): the agent shows a code, and its person says in a browser, signed in
// there by whatever means their organization has, that the agent is theirs.

import { randomInt } from 'node:crypto'
import { ApiError } from '../../core/error.ts'
import { notFound, may, requirePermission } from '../../core/permission.ts'
import type { AgentSignInId, MemberId, OrganizationId, ProjectId, UserId } from '../../core/ids.ts'
import type { MemberPrincipal } from '../../core/principal.ts'
import { change } from '../../db/change.ts'
import type { AgentSignInTable } from '../../db/tables/agents.ts'
import { networkOf } from '../../lib/network/address-list.ts'
import { randomId } from '../../lib/random-id.ts'
import { changeAccess } from '../change-access.ts'
import { hashKey } from '../key-format.ts'
import { openSecretlessKey } from '../secretless-keys.ts'
import { createToken, hashToken } from '../sign-in/one-time.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import type { Session } from '../sign-in/sessions.ts'
import { ownAction } from '../sign-in/users.ts'
import { endAgents } from './end-agents.ts'

/** Somebody reads a code, signs in and looks at what they allow meanwhile. */
export const waitsMs = 600_000

/** So many of one network may wait at a time: an office has one, and a guesser gains nothing by more. */
const waitingMax = 30

/** Letters of which no words are made, none of which is taken for another (RFC 8628, 6.1): 34 bits. */
const codeLetters = 'BCDFGHJKLMNPQRSTVWXZ'
const codeLength = 8

export type Begun = { readonly deviceCode: string; readonly userCode: string; readonly endsAtMs: number }

const clientLengthMax = 200

/** Begins to sign an agent in; null where too many of its network wait already. */
export async function beginAgentSignIn(
  { db, clock, hashSecret }: SignInParts,
  { client, address }: { readonly client: string; readonly address: string },
): Promise<Begun | null> {
  const now = clock.nowMs()
  await db.deleteFrom('agent_sign_ins').where('ends_at', '<=', now).execute()
  if ((await countWaiting(db, address)) >= waitingMax) return null
  const begun = { deviceCode: createToken(), userCode: createCode(), endsAtMs: now + waitsMs }
  await db
    .insertInto('agent_sign_ins')
    .values({
      id: `agt_${randomId()}`,
      device_hash: hashToken(begun.deviceCode),
      code_hash: hashCode(hashSecret, begun.userCode),
      state: 'waiting',
      client: client.slice(0, clientLengthMax),
      address,
      created_at: now,
      ends_at: begun.endsAtMs,
      polled_at: null,
      ...nobodys,
    })
    .execute()
  return begun
}

async function countWaiting(db: SignInParts['db'], address: string): Promise<number> {
  // The addresses of a network of IPv6 have the first group in common however they are shortened.
  const [beginning = ''] = address.split(/(?<=:)/, 1)
  const rows = await db
    .selectFrom('agent_sign_ins')
    .select('address')
    .where('state', '=', 'waiting')
    .where('address', 'like', `${beginning}%`)
    .execute()
  const network = networkOf(address)
  return rows.filter((row) => networkOf(row.address) === network).length
}

const nobodys = {
  organization_id: null,
  project_id: null,
  member_id: null,
  user_id: null,
  api_key_id: null,
  connection_id: null,
  sso_subject: null,
  sso_session: null,
} as const

function createCode(): string {
  const letters = Array.from({ length: codeLength }, () => codeLetters[randomInt(codeLetters.length)] ?? '')
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`
}

/** Codes are typed from a terminal, so what separates their letters and whether they are capitals is no matter. */
function hashCode(hashSecret: Uint8Array, code: string): string {
  return hashKey(hashSecret, `agent code ${code.toUpperCase().replaceAll(/[^A-Z]/g, '')}`)
}

export type WaitingAgent = {
  readonly client: string
  readonly address: string
  readonly begunAtMs: number
  /** Where the person may let its requests count. */
  readonly projects: readonly AgentProject[]
}

export type AgentProject = {
  readonly organizationId: OrganizationId
  readonly organizationName: string
  readonly id: ProjectId
  readonly name: string
}

/** Shows somebody who is signed in the agent that a code is of. Throws for a code that is nobody's. */
export async function findWaitingAgent(parts: SignInParts, session: Session, code: string): Promise<WaitingAgent> {
  const { client, address, created_at: begunAtMs } = await findWaiting(parts, code)
  return { client, address, begunAtMs, projects: await listProjects(parts, session) }
}

async function findWaiting({ db, clock, hashSecret }: SignInParts, code: string): Promise<AgentSignInTable> {
  const row = await db
    .selectFrom('agent_sign_ins')
    .selectAll()
    .where('code_hash', '=', hashCode(hashSecret, code))
    .where('state', '=', 'waiting')
    .where('ends_at', '>', clock.nowMs())
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return row
}

async function listProjects({ db }: SignInParts, { memberships }: Session): Promise<readonly AgentProject[]> {
  const ids = memberships.map(({ organizationId }) => organizationId)
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('projects')
    .select(['id', 'name', 'organization_id', 'key_owners'])
    .where('organization_id', 'in', ids)
    .where('archived_at', 'is', null)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return memberships.flatMap(({ organizationId, organizationName, principal }) =>
    rows
      .filter(({ organization_id, key_owners }) => organization_id === organizationId && key_owners === 'anyone')
      .filter(({ id: projectId }) => may(principal, 'models:use', target(principal, projectId)))
      .map(({ id, name }) => ({ organizationId, organizationName, id, name })),
  )
}

function target({ organizationId, memberId: ownerId }: MemberPrincipal, projectId: ProjectId) {
  return { organizationId, projectId, ownerId }
}

export type Allowing = {
  readonly code: string
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
}

/** Makes an agent that waits somebody's own: what it asks counts under a key of theirs in the project. */
export async function allowAgent(
  parts: SignInParts,
  session: Session,
  { code, organizationId, projectId }: Allowing,
): Promise<void> {
  const { id } = await findWaiting(parts, code)
  const member = session.memberships.find((one) => one.organizationId === organizationId)?.principal
  if (member === undefined) throw notFound()
  requirePermission(member, 'models:use', target(member, projectId))
  const key = await openSecretlessKey(parts, member, { organizationId, projectId, kind: 'agent' })
  const action = { action: 'agents:allow', organizationId, target: id }
  await change(parts, member, action, async (transaction, note) => {
    const shown = await transaction
      .selectFrom('sessions')
      .select(['connection_id', 'sso_subject', 'sso_session'])
      .where('id', '=', session.id)
      .executeTakeFirst()
    // It may have ended since the request came in.
    if (shown === undefined) throw new ApiError({ code: 'unauthenticated', key: null }, 'The session is over: sign in.')
    const whose = { organization_id: organizationId, project_id: projectId, member_id: member.memberId }
    const allowed = await transaction
      .updateTable('agent_sign_ins')
      .set({ state: 'allowed', ...whose, user_id: session.user.id, api_key_id: key.id })
      .set(shown)
      .where('id', '=', id)
      .where('state', '=', 'waiting')
      .returning(['client', 'address'])
      .executeTakeFirst()
    if (allowed === undefined) throw notFound()
    note(null, { ...allowed, project_id: projectId, api_key_id: key.id })
  })
}

/** Turns an agent that waits away. */
export async function denyAgent(parts: SignInParts, session: Session, code: string): Promise<void> {
  const { id } = await findWaiting(parts, code)
  await change(parts, session.principal, ownAction('agents:deny', id), async (transaction, note) => {
    const denied = await transaction
      .updateTable('agent_sign_ins')
      .set({ state: 'denied' })
      .where('id', '=', id)
      .where('state', '=', 'waiting')
      .returning(['client', 'address'])
      .executeTakeFirst()
    if (denied === undefined) throw notFound()
    note(null, denied)
  })
}

export type ListedAgent = {
  readonly id: AgentSignInId
  readonly client: string
  readonly address: string
  readonly organizationId: OrganizationId
  readonly projectId: ProjectId
  readonly createdAtMs: number
  readonly endsAtMs: number
}

/** The agents that somebody is signed in to, the newest first. */
export async function listAgents(
  { db, clock }: SignInParts,
  of: { readonly userId: UserId } | { readonly memberId: MemberId; readonly organizationId: OrganizationId },
): Promise<readonly ListedAgent[]> {
  const open = db
    .selectFrom('agent_sign_ins')
    .selectAll()
    .where('state', 'in', ['allowed', 'open'])
    .where('ends_at', '>', clock.nowMs())
  const own =
    'userId' in of
      ? open.where('user_id', '=', of.userId)
      : open.where('organization_id', '=', of.organizationId).where('member_id', '=', of.memberId)
  const rows = await own.orderBy('created_at', 'desc').orderBy('id').execute()
  return rows.flatMap(({ id, client, address, organization_id, project_id, created_at, ends_at }) => {
    if (organization_id === null || project_id === null) return []
    const where = { organizationId: organization_id, projectId: project_id }
    return [{ id, client, address, ...where, createdAtMs: created_at, endsAtMs: ends_at }]
  })
}

/** Signs one of somebody's own agents out. */
export async function endOwnAgent(parts: SignInParts, { user, principal }: Session, id: string): Promise<void> {
  await changeAccess(parts, principal, ownAction('agents:end', id), async (transaction, note) => {
    const agents = await endAgents(transaction, { userId: user.id, id })
    if (agents.length === 0) throw notFound()
    note(null, { agents })
  })
}
