import type { ConnectionId, OrganizationId } from '../../core/ids.ts'
import type { Principal } from '../../core/principal.ts'
import { change, joinTransaction } from '../../db/change.ts'
import type { ConnectionTable } from '../../db/tables/single-sign-on.ts'
import { lockOrganization } from '../members.ts'
import { beginSession, type Browser } from '../sign-in/sessions.ts'
import { ownAction } from '../sign-in/users.ts'
import { applyGroups } from './group-mappings.ts'
import { noteAttempt } from './attempts.ts'
import { providerSettings, type ConnectionRow } from './connections.ts'
import { SsoFault } from './fault.ts'
import { beginFlow, consumeFlow, type NewFlow } from './flows.ts'
import { addressToSignIn, exchangeCode, type Claims } from './oidc/exchange-code.ts'
import { readLogoutToken } from './oidc/read-logout-token.ts'
import type { SsoParts } from './parts.ts'
import { linkIdentity, recognise } from './people.ts'

/** Finds a connection that may be used; a draft by who looks after it alone. Throws for any other. */
export async function findUsableConnection(
  { db }: Pick<SsoParts, 'db'>,
  id: ConnectionId,
  states: readonly ConnectionTable['state'][] = ['on'],
): Promise<ConnectionRow> {
  const row = await db
    .selectFrom('connections')
    .innerJoin('organizations', 'organizations.id', 'connections.organization_id')
    .selectAll('connections')
    .where('connections.id', '=', id)
    .where('connections.state', 'in', states)
    .where('organizations.disabled_at', 'is', null)
    .executeTakeFirst()
  if (row === undefined) throw new SsoFault('connection-off')
  return row
}

/** Begins a way to the provider. Returns the address that the browser is sent to. */
export async function beginByConnection(
  parts: SsoParts,
  flow: Omit<NewFlow, 'connection'> & { readonly connection: ConnectionRow },
): Promise<string> {
  const { connection, isProof } = flow
  // A provider that cannot be reached leaves nothing behind.
  const provider = await parts.sso.providers.find(providerSettings(parts, connection))
  const secrets = await beginFlow(parts, flow)
  const redirectUri = redirectUriOf(parts, connection.id)
  return addressToSignIn(provider, { secrets, redirectUri, scopes: connection.scopes, isProof })
}

/** Where providers send browsers back to. */
export function redirectUriOf({ sso }: Pick<SsoParts, 'sso'>, id: ConnectionId): string {
  return `${sso.siteUrl()}/sso/${id}/callback`
}

export type CameBack = {
  readonly connectionId: ConnectionId
  /** What the provider has put into the address. */
  readonly query: string
  /** The token of the browser in which it came back; null for one that has begun nothing. */
  readonly browserToken: string | null
  readonly browser: Browser
}

/** What becomes of a way that came back: a session, or an identity that was linked to one. */
export type Finished = { readonly next: string; readonly token: string | null }

/** Finishes a way to the provider. What is refused is noted for those who look after the connection. */
export async function finishByConnection(parts: SsoParts, cameBack: CameBack): Promise<Finished> {
  const connection = await findUsableConnection(parts, cameBack.connectionId, ['on', 'draft'])
  try {
    const { next, token, userId } = await finish(parts, connection, cameBack)
    await noteAttempt(parts, { connection, outcome: token === null ? 'linked' : 'signed-in', code: null, userId })
    return { next, token }
  } catch (error) {
    if (error instanceof SsoFault) {
      await noteAttempt(parts, { connection, outcome: 'refused', code: error.code, userId: null })
    }
    throw error
  }
}

async function finish(parts: SsoParts, connection: ConnectionRow, { query, browserToken, browser }: CameBack) {
  const address = new URL(`${redirectUriOf(parts, connection.id)}?${query}`)
  const given = { connectionId: connection.id, states: address.searchParams.getAll('state'), browser: browserToken }
  const flow = await consumeFlow(parts, given)
  const { user_id: linking, next, is_proof } = flow.row
  if (connection.state !== 'on' && linking === null) throw new SsoFault('connection-off')
  const provider = await parts.sso.providers.find(providerSettings(parts, connection))
  const claims = await exchangeCode(provider, {
    ...flow,
    address,
    isProof: is_proof === 1,
    wanted: ['email', connection.groups_claim],
    nowMs: parts.clock.nowMs(),
    skewSeconds: parts.sso.providers.skewSeconds,
  })
  checkTenant(claims, connection)
  if (linking === null)
    return { next, ...(await openSession(parts, { connection, claims, browser, isProof: is_proof === 1 })) }
  const inside = withoutNotice(parts)
  await parts.db.transaction().execute(async (transaction) => {
    await lockOrganization(transaction, connection.organization_id)
    await linkIdentity(inside, transaction, { connection, claims, userId: linking })
  })
  await parts.accessChanged?.()
  return { next, token: null, userId: linking }
}

/** One issuer may speak for many customers of the provider. */
function checkTenant(claims: Claims, { tenant }: ConnectionRow): void {
  if (tenant === null || claims['tid'] === tenant || claims['hd'] === tenant) return
  throw new SsoFault('tenant-foreign')
}

type Opening = {
  readonly connection: ConnectionRow
  readonly claims: Claims
  readonly browser: Browser
  readonly isProof: boolean
}

/** Gateways hear of a change when it is made: inside of its transaction they would wait for it. */
function withoutNotice({ accessChanged: _, ...rest }: SsoParts): SsoParts {
  return rest
}

async function openSession(parts: SsoParts, { connection, claims, browser, isProof }: Opening) {
  const inside = withoutNotice(parts)
  const opened = await parts.db.transaction().execute(async (transaction) => {
    // Whoever is being suspended is so before, or their session is found and ended.
    await lockOrganization(transaction, connection.organization_id)
    const recognised = await recognise(inside, transaction, { connection, claims })
    const { userId } = recognised
    await applyGroups(inside, transaction, { connection, claims, recognised })
    const user: Principal = { kind: 'user', userId, organizationId: null, role: null }
    const joined = { ...inside, db: joinTransaction(transaction) }
    const token = await change(joined, user, ownAction('sessions:create', userId), async (_same, note) => {
      const vouchedBy = vouch(connection.id, claims, isProof ? parts.clock.nowMs() : null)
      const made = await beginSession(parts, transaction, {
        userId,
        method: 'sso',
        state: 'open',
        ...browser,
        vouchedBy,
      })
      note(null, { method: 'sso', connection: connection.id }, made.id)
      return made.token
    })
    return { token, userId }
  })
  await parts.accessChanged?.()
  return opened
}

function vouch(connectionId: ConnectionId, claims: Claims, askedAnewAtMs: number | null) {
  const { sub: subject, sid, auth_time: authTime } = claims
  const saidMs = typeof authTime === 'number' ? Math.trunc(authTime * 1_000) : 0
  const session = typeof sid === 'string' && sid.length <= 255 ? sid : null
  return { connectionId, subject, session, provenAtMs: Math.max(0, askedAnewAtMs ?? saidMs) }
}

/** Ends the sessions that a provider says are over. The same word counts once, over all gateways. */
export async function endByProvider(parts: SsoParts, connectionId: ConnectionId, token: string): Promise<void> {
  const connection = await findUsableConnection(parts, connectionId)
  const provider = await parts.sso.providers.find(providerSettings(parts, connection))
  const nowMs = parts.clock.nowMs()
  const { skewSeconds } = parts.sso.providers
  const { id, endsAtMs, subject, session } = await readLogoutToken(provider, token, { nowMs, skewSeconds })
  const action = { action: 'sessions:revoke', organizationId: connection.organization_id, target: connectionId }
  const provided: Principal = { kind: 'anonymous', organizationId: null, role: null }
  await change(parts, provided, action, async (transaction, note) => {
    await transaction.deleteFrom('used_messages').where('ends_at', '<=', nowMs).execute()
    const first = await transaction
      .insertInto('used_messages')
      .values({ connection_id: connectionId, message_id: id, ends_at: endsAtMs })
      .onConflict((conflict) => conflict.doNothing())
      .returning('message_id')
      .executeTakeFirst()
    if (first === undefined) throw new SsoFault('token-invalid')
    const own = transaction.deleteFrom('sessions').where('connection_id', '=', connectionId)
    const ofSubject = subject === null ? own : own.where('sso_subject', '=', subject)
    const chosen = session === null ? ofSubject : ofSubject.where('sso_session', '=', session)
    const ended = await chosen.returning('id').execute()
    note(null, { sessions: ended.map((row) => row.id), by: 'provider' })
  })
}

/** The connection by which members with an e-mail address of a verified domain sign in; null where there is none. */
export async function findConnectionOf(
  { db }: Pick<SsoParts, 'db'>,
  email: string,
): Promise<{ readonly id: ConnectionId; readonly organizationId: OrganizationId } | null> {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  const row = await db
    .selectFrom('domains')
    .innerJoin('connections', 'connections.organization_id', 'domains.organization_id')
    .innerJoin('organizations', 'organizations.id', 'domains.organization_id')
    .select(['connections.id', 'connections.organization_id'])
    .where('domains.name', '=', domain)
    .where('domains.verified_at', 'is not', null)
    .where('connections.state', '=', 'on')
    .where('organizations.disabled_at', 'is', null)
    .orderBy(({ eb }) => eb.case().when('connections.enforced_at', 'is', null).then(1).else(0).end())
    .orderBy('connections.created_at')
    .orderBy('connections.id')
    .executeTakeFirst()
  return row === undefined ? null : { id: row.id, organizationId: row.organization_id }
}
