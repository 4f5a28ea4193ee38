import type { Transaction } from 'kysely'
import { conflict, invalidRequest } from '../../core/error.ts'
import type { ConnectionId, OrganizationId } from '../../core/ids.ts'
import { requirePermission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Role } from '../../core/role.ts'
import type { ConnectionTable } from '../../db/tables/single-sign-on.ts'
import type { Tables } from '../../db/tables.ts'
import { randomId } from '../../lib/random-id.ts'
import { seal, unseal } from '../../lib/seal.ts'
import { lockOrganization } from '../access/lock-organization.ts'
import { endAgents } from '../agents/end-agents.ts'
import { changeAccess } from '../change-access.ts'
import { checkName } from '../check-name.ts'
import { requireGrant } from '../members.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import { answererOf, loweredMapper, mapperOf, raisedAnswerer } from './answerers.ts'
import type { ProviderSettings } from './oidc/providers.ts'
import { findConnection, type ConnectionReference, type ConnectionRow } from './read-connections.ts'

export const signingAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'] as const
export const tokenAuths = ['client_secret_basic', 'client_secret_post'] as const

/** What can be changed of a connection. The issuer is not of it: whose identities are known by it hangs on that. */
export type ConnectionSettings = {
  readonly name: string
  readonly clientId: string
  readonly clientSecret: string
  readonly tokenAuth: ConnectionTable['token_auth']
  readonly signingAlgorithm: (typeof signingAlgorithms)[number]
  readonly scopes: string
  readonly tenant: string | null
  readonly groupsClaim: string
  readonly makesMembers: boolean
  /** Whether signing out here signs out at the provider too. */
  readonly signsOutThere: boolean
  readonly defaultRole: Role
}

export async function createConnection(
  parts: SignInParts,
  principal: Principal,
  {
    organizationId,
    issuer,
    ...settings
  }: ConnectionSettings & {
    readonly organizationId: OrganizationId
    readonly issuer: string
  },
): Promise<ConnectionId> {
  requirePermission(principal, 'connections:create', { organizationId })
  checkIssuer(issuer, settings.tenant)
  const id: ConnectionId = `conn_${randomId()}`
  const columns = toColumns(parts, id, settings)
  const action = { action: 'connections:create', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    await lockOrganization(transaction, organizationId)
    checkRole(principal, settings.defaultRole)
    const nothing = { enforced_at: null, break_glass_id: null, tested_by: null, tested_at: null }
    await transaction
      .insertInto('connections')
      .values({
        id,
        organization_id: organizationId,
        kind: 'oidc',
        state: 'draft',
        issuer,
        ...columns,
        ...nothing,
        ...answererOf(principal),
        ...mapperOf(principal),
        created_at: parts.clock.nowMs(),
      })
      .execute()
    note(null, { issuer, ...shownOf(columns) })
  })
  return id
}

/** Issuers that speak for many tenants: without a name of one, anybody of any of them would be let in. */
function checkIssuer(issuer: string, tenant: string | null): void {
  const { hostname, pathname, protocol, search, hash, username } = new URL(issuer)
  const refuse = (message: string) => invalidRequest(['issuer'], 'value', message)
  if (!/^https?:$/.test(protocol) || search !== '' || hash !== '' || username !== '') {
    throw refuse('An issuer is an address with HTTPS and nothing behind its path.')
  }
  if (/[{}]|%7b|\/(?:common|organizations|consumers)(?:\/|$)/i.test(pathname)) {
    throw refuse('This issuer stands for many tenants: name yours in the address.')
  }
  if (hostname === 'accounts.google.com' && tenant === null) {
    throw invalidRequest(
      ['tenant'],
      'missing',
      'Everybody has this issuer: name your domain of Google Workspace as the tenant.',
    )
  }
}

/** Nobody becomes an owner by a provider’s word. */
export function checkRole(principal: Principal, role: Role): void {
  if (role === 'owner') throw invalidRequest(['defaultRole'], 'value', 'No connection makes owners.')
  requireGrant(principal, role)
}

function toColumns({ signIn }: Pick<SignInParts, 'signIn'>, id: ConnectionId, settings: ConnectionSettings) {
  return {
    name: checkName(settings.name),
    client_id: settings.clientId,
    secret_sealed: seal(signIn.sealKey, `connection ${id}`, settings.clientSecret),
    token_auth: settings.tokenAuth,
    signing_algorithm: settings.signingAlgorithm,
    scopes: settings.scopes,
    tenant: settings.tenant,
    groups_claim: settings.groupsClaim,
    makes_members: settings.makesMembers ? 1 : 0,
    signs_out: settings.signsOutThere ? 1 : 0,
    default_role: settings.defaultRole,
  }
}

function shownOf({ secret_sealed: _, ...shown }: ReturnType<typeof toColumns>) {
  return shown
}

export async function updateConnection(
  parts: SignInParts,
  principal: Principal,
  { id, organizationId }: ConnectionReference,
  changes: Partial<ConnectionSettings>,
): Promise<void> {
  requirePermission(principal, 'connections:update', { organizationId })
  const action = { action: 'connections:update', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const row = await findConnection(transaction, { id, organizationId })
    refuseForeign(row, changes)
    const before = settingsOf(parts, row)
    const settings = { ...before, ...changes }
    if (row.kind === 'oidc') checkIssuer(row.issuer, settings.tenant)
    if (changes.defaultRole !== undefined) checkRole(principal, changes.defaultRole)
    const columns = toColumns(parts, row.id, settings)
    const areGroupsNew = mappingSettings.some((field) => settings[field] !== before[field])
    const isProviderNew = oidcSettings.some((field) => settings[field] !== before[field])
    await transaction
      .updateTable('connections')
      .set({
        ...columns,
        ...(isProviderNew && answererOf(principal)),
        ...(areGroupsNew && loweredMapper(principal, row)),
      })
      .where('id', '=', row.id)
      .where('organization_id', '=', organizationId)
      .execute()
    const isSecretNew = settings.clientSecret !== before.clientSecret
    note(shownOf(toColumns(parts, row.id, before)), {
      ...shownOf(columns),
      ...(isSecretNew && { client_secret: 'changed' }),
    })
  })
}

/** What is agreed with a provider that speaks OpenID Connect. */
const oidcSettings = ['clientId', 'clientSecret', 'tokenAuth', 'signingAlgorithm', 'scopes', 'tenant'] as const

/** What says, beside the mappings, what somebody’s groups make of them. */
const mappingSettings = ['groupsClaim', 'defaultRole'] as const

function refuseForeign({ kind }: ConnectionRow, changes: Partial<ConnectionSettings>): void {
  const field = oidcSettings.find((name) => changes[name] !== undefined)
  if (kind === 'oidc' || field === undefined) return
  throw invalidRequest([field], 'value', 'This connection speaks SAML, which has nothing of the kind.')
}

function settingsOf(parts: Pick<SignInParts, 'signIn'>, row: ConnectionRow): ConnectionSettings {
  return {
    name: row.name,
    clientId: row.client_id,
    clientSecret: unseal(parts.signIn.sealKey, `connection ${row.id}`, row.secret_sealed),
    tokenAuth: row.token_auth,
    signingAlgorithm: row.signing_algorithm as ConnectionSettings['signingAlgorithm'],
    scopes: row.scopes,
    tenant: row.tenant,
    groupsClaim: row.groups_claim,
    makesMembers: row.makes_members === 1,
    signsOutThere: row.signs_out === 1,
    defaultRole: row.default_role,
  }
}

/** What is agreed with the provider of a connection. */
export function providerSettings(parts: Pick<SignInParts, 'signIn'>, row: ConnectionRow): ProviderSettings {
  const { clientId, clientSecret, tokenAuth, signingAlgorithm } = settingsOf(parts, row)
  return { id: row.id, issuer: row.issuer, clientId, clientSecret, tokenAuth, signingAlgorithm }
}

/**
 * Switches a connection on, which whoever does it answers for, or off. Off ends the sessions that began with it; an enforced
 * one is relaxed first.
 */
export async function setConnectionOn(
  parts: SignInParts,
  principal: Principal,
  { id, organizationId }: ConnectionReference,
  isOn: boolean,
): Promise<void> {
  requirePermission(principal, 'connections:update', { organizationId })
  const action = { action: isOn ? 'connections:enable' : 'connections:disable', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const row = await findConnection(transaction, { id, organizationId })
    if (!isOn) refuseEnforced(row)
    const state = isOn ? 'on' : 'off'
    await transaction
      .updateTable('connections')
      .set({ state, ...(isOn && raisedAnswerer(principal, row)) })
      .where('id', '=', row.id)
      .where('organization_id', '=', organizationId)
      .execute()
    const ended = isOn ? [] : await endSessionsOf(transaction, row.id)
    note({ state: row.state }, { state, ...(!isOn && { sessions: ended }) })
  })
}

/** Forgets a connection with the identities that are known by it, and ends the sessions that began with it. */
export async function removeConnection(
  parts: SignInParts,
  principal: Principal,
  { id, organizationId }: ConnectionReference,
): Promise<void> {
  requirePermission(principal, 'connections:remove', { organizationId })
  const action = { action: 'connections:remove', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const row = await findConnection(transaction, { id, organizationId })
    refuseEnforced(row)
    const sessions = await endSessionsOf(transaction, row.id)
    await transaction
      .deleteFrom('connections')
      .where('id', '=', row.id)
      .where('organization_id', '=', organizationId)
      .execute()
    note({ issuer: row.issuer, name: row.name }, { sessions })
  })
}

function refuseEnforced({ enforced_at }: ConnectionRow): void {
  if (enforced_at === null) return
  throw conflict('Members come in by this connection alone: relax that first.')
}

async function endSessionsOf(transaction: Transaction<Tables>, id: ConnectionId) {
  const rows = await transaction.deleteFrom('sessions').where('connection_id', '=', id).returning('id').execute()
  await endAgents(transaction, { connectionId: id, subject: null, sessions: [] })
  return rows.map((row) => row.id)
}
