import type { Transaction } from 'kysely'
import { ApiError, invalidRequest } from '../../../core/error.ts'
import type { ConnectionId, OrganizationId } from '../../../core/ids.ts'
import { requirePermission } from '../../../core/permission.ts'
import type { Principal } from '../../../core/principal.ts'
import type { SamlConnectionTable } from '../../../db/tables/saml.ts'
import type { Tables } from '../../../db/tables.ts'
import { randomId } from '../../../lib/random-id.ts'
import { lockOrganization } from '../../access/lock-organization.ts'
import { changeAccess } from '../../change-access.ts'
import { checkName } from '../../check-name.ts'
import { customOf } from '../../access/custom-of.ts'
import { mayGive } from '../../members.ts'
import type { SignInParts } from '../../sign-in/parts.ts'
import { answererOf, mapperOf } from '../answerers.ts'
import { checkRole, type ConnectionSettings } from '../connections.ts'
import { findConnection, type ConnectionReference, type ConnectionRow } from '../read-connections.ts'
import type { SsoParts } from '../parts.ts'
import { keepCertificates } from './certificates.ts'
import { createSamlKey, readKeys, sealKeys } from './keys.ts'
import { findMetadata, type MetadataSource } from './find-metadata.ts'
import type { ProviderMetadata } from './read-metadata.ts'
import { findSaml, type SamlRow } from './saml-row.ts'

/** What can be changed of a connection that speaks SAML, beside what every connection has. */
export type SamlSettings = {
  readonly nameIdFormat: SamlConnectionTable['name_id_format']
  readonly emailAttribute: string | null
  readonly nameAttribute: string | null
  readonly verifiesEmails: boolean
  readonly forcesSignIn: boolean
  readonly authnContext: string | null
  readonly providerInitiated: SamlConnectionTable['provider_initiated']
}

type NewConnection = SamlSettings &
  Pick<ConnectionSettings, 'name' | 'groupsClaim' | 'makesMembers' | 'signsOutThere' | 'defaultRole'> & {
    readonly organizationId: OrganizationId
    readonly source: MetadataSource
  }

export async function createSamlConnection(
  parts: SsoParts,
  principal: Principal,
  { organizationId, source, ...settings }: NewConnection,
): Promise<ConnectionId> {
  requirePermission(principal, 'connections:create', { organizationId })
  // Before anything is fetched for it.
  const name = checkName(settings.name)
  const { entityId: issuer, ...metadata } = await findMetadata(parts, source)
  const id: ConnectionId = `conn_${randomId()}`
  const secret_sealed = sealKeys(parts, id, [await createSamlKey(parts, id)])
  const action = { action: 'connections:create', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    await lockOrganization(transaction, organizationId)
    checkRole(principal, settings.defaultRole)
    const nowMs = parts.clock.nowMs()
    const shared = {
      name,
      groups_claim: settings.groupsClaim,
      makes_members: settings.makesMembers ? 1 : 0,
      signs_out: settings.signsOutThere ? 1 : 0,
      default_role: settings.defaultRole,
    }
    const nothing = { enforced_at: null, break_glass_id: null, tested_by: null, tested_at: null, tenant: null }
    const unused = { client_id: '', token_auth: 'client_secret_basic', signing_algorithm: '', scopes: '' } as const
    const row = {
      id,
      organization_id: organizationId,
      kind: 'saml',
      state: 'draft',
      issuer,
      created_at: nowMs,
    } as const
    await transaction
      .insertInto('connections')
      .values({
        ...row,
        ...shared,
        ...nothing,
        ...unused,
        ...answererOf(principal),
        ...mapperOf(principal),
        secret_sealed,
      })
      .execute()
    const columns = { ...toColumns(settings), ...toSource(source, metadata) }
    await transaction
      .insertInto('saml_connections')
      .values({ connection_id: id, organization_id: organizationId, ...columns, ...readNow(nowMs) })
      .execute()
    const { certificates } = metadata
    await keepCertificates(transaction, { connection: { id, organization_id: organizationId }, certificates, nowMs })
    note(null, { issuer, kind: 'saml', ...shared, ...columns })
  })
  return id
}

function toColumns(settings: SamlSettings) {
  return {
    name_id_format: settings.nameIdFormat,
    email_attribute: settings.emailAttribute,
    name_attribute: settings.nameAttribute,
    verifies_emails: settings.verifiesEmails ? 1 : 0,
    forces_sign_in: settings.forcesSignIn ? 1 : 0,
    authn_context: settings.authnContext,
    provider_initiated: settings.providerInitiated,
  }
}

function toSource(source: MetadataSource, { signInUrl, signOutUrl }: Omit<ProviderMetadata, 'entityId'>) {
  const metadata_url = 'metadataUrl' in source ? source.metadataUrl : null
  return { metadata_url, sign_in_url: signInUrl, sign_out_url: signOutUrl }
}

function readNow(nowMs: number) {
  return { read_at: nowMs, failed_at: null, failure: null }
}

type Changes = Partial<SamlSettings> & { readonly source?: MetadataSource }

/** Changes what is particular to SAML. A description of another provider is refused: its people would be others. */
export async function updateSamlConnection(
  parts: SsoParts,
  principal: Principal,
  { id, organizationId }: ConnectionReference,
  { source, ...changes }: Changes,
): Promise<void> {
  requirePermission(principal, 'connections:update', { organizationId })
  const metadata = source === undefined ? null : await findMetadata(parts, source)
  const action = { action: 'connections:update', organizationId, target: id }
  await changeAccess(parts, principal, action, async (transaction, note) => {
    const connection = await findConnection(transaction, { id, organizationId })
    const row = await findSaml(transaction, connection.id)
    if (metadata !== null && metadata.entityId !== connection.issuer) {
      throw invalidRequest(
        ['metadata'],
        'value',
        'This is the description of another provider: make a connection for it.',
      )
    }
    if (metadata !== null) await requireSayOverKnown(transaction, principal, connection)
    const nowMs = parts.clock.nowMs()
    const before = settingsOf(row)
    const columns = {
      ...toColumns({ ...before, ...changes }),
      ...(source !== undefined && metadata !== null && { ...toSource(source, metadata), ...readNow(nowMs) }),
    }
    await transaction
      .updateTable('saml_connections')
      .set(columns)
      .where('connection_id', '=', connection.id)
      .where('organization_id', '=', organizationId)
      .execute()
    await transaction
      .updateTable('connections')
      .set(answererOf(principal))
      .where('id', '=', connection.id)
      .where('organization_id', '=', organizationId)
      .execute()
    if (metadata !== null) {
      await keepCertificates(transaction, { connection, certificates: metadata.certificates, nowMs })
    }
    note(toColumns(before), columns)
  })
}

/**
 * Whoever says whose signatures are taken could sign in as everybody who is known by them, so they need a role from which
 * those of all these members may be given. Suspended ones count: they come back as who they are.
 */
async function requireSayOverKnown(
  transaction: Transaction<Tables>,
  principal: Principal,
  { id, organization_id }: ConnectionRow,
): Promise<void> {
  const known = await transaction
    .selectFrom('identities')
    .innerJoin('members', 'members.user_id', 'identities.user_id')
    .leftJoin('roles', 'roles.id', 'members.role_id')
    .select(['members.role', 'roles.id as role_id', 'roles.permissions'])
    .distinct()
    .where('identities.connection_id', '=', id)
    .where('identities.organization_id', '=', organization_id)
    .where('members.organization_id', '=', organization_id)
    .where('members.removed_at', 'is', null)
    .execute()
  const above = known.find((member) => !mayGive(principal, member.role, customOf(member).custom))
  if (above === undefined) return
  throw new ApiError(
    { code: 'permission-denied' },
    `A member who is ${above.role} signs in by this connection: to say whose signatures it takes needs a role from which ${above.role} may be given.`,
  )
}

/**
 * Takes a step in the change of the service’s own key. The first publishes a new one beside the one in use, for the
 * provider to learn; the second signs with the new one and forgets the old.
 */
export async function rotateSamlKey(
  parts: SignInParts,
  principal: Principal,
  { id, organizationId }: ConnectionReference,
): Promise<'published' | 'in-use'> {
  requirePermission(principal, 'connections:update', { organizationId })
  const created = await createSamlKey(parts, id as ConnectionId)
  const action = { action: 'connections:rotate', organizationId, target: id }
  return changeAccess(parts, principal, action, async (transaction, note) => {
    const connection = await findConnection(transaction, { id, organizationId })
    await findSaml(transaction, connection.id)
    const [current, next] = readKeys(parts, connection)
    const keys = next === undefined ? [current, created] : [next]
    await transaction
      .updateTable('connections')
      .set({ secret_sealed: sealKeys(parts, connection.id, keys) })
      .where('id', '=', connection.id)
      .where('organization_id', '=', organizationId)
      .execute()
    const step = next === undefined ? 'published' : 'in-use'
    note(null, { key: step })
    return step
  })
}

function settingsOf(row: SamlRow): SamlSettings {
  return {
    nameIdFormat: row.name_id_format,
    emailAttribute: row.email_attribute,
    nameAttribute: row.name_attribute,
    verifiesEmails: row.verifies_emails === 1,
    forcesSignIn: row.forces_sign_in === 1,
    authnContext: row.authn_context,
    providerInitiated: row.provider_initiated,
  }
}

export type SamlConnection = SamlSettings & {
  readonly metadataUrl: string | null
  readonly signInUrl: string
  readonly signOutUrl: string | null
  readonly readAtMs: number
  readonly failedAtMs: number | null
  readonly failure: string | null
}

export async function readSamlConnection(
  { db }: Pick<SignInParts, 'db'>,
  principal: Principal,
  reference: ConnectionReference,
): Promise<SamlConnection> {
  requirePermission(principal, 'connections:read', reference)
  const { id } = await findConnection(db, reference)
  const row = await findSaml(db, id)
  return {
    ...settingsOf(row),
    metadataUrl: row.metadata_url,
    signInUrl: row.sign_in_url,
    signOutUrl: row.sign_out_url,
    readAtMs: row.read_at,
    failedAtMs: row.failed_at,
    failure: row.failure,
  }
}
