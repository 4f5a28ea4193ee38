import { domainOf } from '../../config/mail-address.ts'
import type { ConnectionId, OrganizationId } from '../../core/ids.ts'
import type { ConnectionTable } from '../../db/tables/single-sign-on.ts'
import { readHint, type Browser, type Hint, type Session } from '../sign-in/sessions.ts'
import { signOut } from '../sign-in/sign-in.ts'
import { noteAttempt } from './attempts.ts'
import { conclude } from './conclude.ts'
import { providerSettings } from './connections.ts'
import type { ConnectionRow } from './read-connections.ts'
import { endSessionsByProvider } from './end-by-provider.ts'
import { SsoFault } from './fault.ts'
import { beginFlow, consumeFlow, type NewFlow } from './flows.ts'
import { addressToSignIn, addressToSignOut, exchangeCode, type Claims } from './oidc/exchange-code.ts'
import { readLogoutToken } from './oidc/read-logout-token.ts'
import type { SsoParts } from './parts.ts'
import type { NameId } from './saml/messages/read-assertion.ts'
import { addressToSignOutBySaml } from './saml/logout.ts'
import { beginBySaml } from './saml/saml-sign-in.ts'

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
  if (connection.kind === 'saml') return beginBySaml(parts, flow)
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
  if (connection.kind !== 'oidc') throw new SsoFault('connection-off')
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
  const { claims, idToken } = await exchangeCode(provider, {
    ...flow,
    address,
    isProof: is_proof === 1,
    wanted: ['email', connection.groups_claim],
    nowMs: parts.clock.nowMs(),
    skewSeconds: parts.sso.providers.skewSeconds,
  })
  checkTenant(claims, connection)
  const concluded = await conclude(parts, {
    connection,
    claims,
    linking,
    browser,
    isProof: is_proof === 1,
    endsAtMs: null,
    hint: idToken,
  })
  return { next, ...concluded }
}

/** One issuer may speak for many customers of the provider. */
function checkTenant(claims: Claims, { tenant }: ConnectionRow): void {
  if (tenant === null || claims['tid'] === tenant || claims['hd'] === tenant) return
  throw new SsoFault('tenant-foreign')
}

/** Ends the sessions that a provider says are over. The same word counts once, over all gateways. */
export async function endByProvider(parts: SsoParts, connectionId: ConnectionId, token: string): Promise<void> {
  const connection = await findUsableConnection(parts, connectionId)
  if (connection.kind !== 'oidc') throw new SsoFault('connection-off')
  const provider = await parts.sso.providers.find(providerSettings(parts, connection))
  const nowMs = parts.clock.nowMs()
  const { skewSeconds } = parts.sso.providers
  const { id, endsAtMs, subject, session } = await readLogoutToken(provider, token, { nowMs, skewSeconds })
  const sessions = session === null ? [] : [session]
  await endSessionsByProvider(parts, connection, {
    messageId: id,
    endsAtMs,
    subject,
    sessions,
    repeated: 'token-invalid',
  })
}

/** What the browser that comes back from signing out there brings along, by which the page knows what to say. */
const signedOut = 'signed-out'

/** Where providers that speak OpenID Connect send browsers back to that have signed out there. */
export function signedOutUri({ sso }: Pick<SsoParts, 'sso'>): string {
  return `${sso.siteUrl()}/login`
}

/** The page that says that somebody is signed out here and at the provider. */
export const signedOutPath = `/login?state=${signedOut}`

/**
 * Signs somebody out here, and then finds where their browser is signed out at the provider too, where the connection
 * wants that. Null where it does not, and where the provider cannot be asked: here they are signed out in any case.
 */
export async function signOutByConnection(parts: SsoParts, session: Session): Promise<string | null> {
  const there = await readHint(parts, session.id)
  await signOut(parts, session)
  if (there === null) return null
  try {
    const connection = await findUsableConnection(parts, there.connectionId)
    return connection.signs_out === 1 ? await addressOut(parts, connection, there) : null
  } catch (error) {
    if (error instanceof SsoFault) return null
    throw error
  }
}

async function addressOut(parts: SsoParts, connection: ConnectionRow, { hint, session }: Hint): Promise<string | null> {
  if (connection.kind === 'saml') {
    if (hint === null) return null
    return addressToSignOutBySaml(parts, connection, { nameId: JSON.parse(hint) as NameId, session })
  }
  const provider = await parts.sso.providers.find(providerSettings(parts, connection))
  return addressToSignOut(provider, { idToken: hint, returnUri: signedOutUri(parts), state: signedOut })
}

/** The connection by which members with an e-mail address of a verified domain sign in; null where there is none. */
export async function findConnectionOf(
  { db }: Pick<SsoParts, 'db'>,
  email: string,
): Promise<{ readonly id: ConnectionId; readonly organizationId: OrganizationId } | null> {
  const row = await db
    .selectFrom('domains')
    .innerJoin('connections', 'connections.organization_id', 'domains.organization_id')
    .innerJoin('organizations', 'organizations.id', 'domains.organization_id')
    .select(['connections.id', 'connections.organization_id'])
    .where('domains.name', '=', domainOf(email))
    .where('domains.verified_at', 'is not', null)
    .where('connections.state', '=', 'on')
    .where('organizations.disabled_at', 'is', null)
    .orderBy(({ eb }) => eb.case().when('connections.enforced_at', 'is', null).then(1).else(0).end())
    .orderBy('connections.created_at')
    .orderBy('connections.id')
    .executeTakeFirst()
  return row === undefined ? null : { id: row.id, organizationId: row.organization_id }
}
