import { randomUUID } from 'node:crypto'
import { createConnection } from '../../../src/accounts/single-sign-on/connections.ts'
import { sealKeys } from '../../../src/accounts/single-sign-on/saml/keys.ts'
import { createCertifiedKey } from '../../../src/accounts/single-sign-on/saml/certified-key.ts'
import type { ConnectionId, DomainId, MemberId, OrganizationId, UserId } from '../../../src/core/ids.ts'
import type { AccountsParts } from '../../../src/accounts/parts.ts'
import { domainToken, testSignIn } from '../../harness/management.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import type { Company } from './world.ts'

const operator = { kind: 'operator' } as const

const lasts = { nowMs: Date.UTC(2026, 0, 1), lastsMs: 315_360_000_000 }
/** The key of a provider that speaks SAML; the service has one of the kind too, which takes long to make. */
export const providerKey = await createCertifiedKey({ name: 'provider', ...lasts })

export const newConnection = {
  name: 'Provider',
  issuer: 'https://idp.example.com',
  clientId: 'odyssey',
  clientSecret: 'a secret of the client',
  tokenAuth: 'client_secret_basic',
  signingAlgorithm: 'RS256',
  scopes: 'openid email profile',
  tenant: null,
  groupsClaim: 'groups',
  makesMembers: true,
  signsOutThere: false,
  defaultRole: 'developer',
} as const

/** A connection that was tried, and an owner who could come in without it. */
export async function addTriedConnection(parts: AccountsParts, { organizationId, members }: Company) {
  const { db, clock } = parts
  const now = clock.nowMs()
  const connectionId = await createConnection({ ...parts, signIn: testSignIn }, operator, {
    ...newConnection,
    organizationId,
  })
  const breakGlassId = members.owner.memberId
  const userId = await userOf(parts, breakGlassId)
  const key = { rp_id: 'ai.example.com', public_key: '', counter: 0, transports: '[]', is_backed_up: 0, name: 'P' }
  await db
    .insertInto('passkeys')
    .values({ id: randomUUID(), user_id: userId, ...key, created_at: now, last_used_at: now })
    .execute()
  await db
    .updateTable('connections')
    .set({ state: 'on', tested_by: userId, tested_at: now })
    .where('id', '=', connectionId)
    .execute()
  return { connectionId, breakGlassId }
}

/** The person who is a member, whom there may have to be first. */
async function userOf(parts: AccountsParts, memberId: MemberId): Promise<UserId> {
  const members = parts.db.selectFrom('members').select('user_id').where('id', '=', memberId)
  const { user_id: known } = await members.executeTakeFirstOrThrow()
  return known ?? (await signInPerson(parts, { memberId })).user.userId
}

/** A domain that is yet to be verified, which is the one answered with, and one that is. */
export async function addDomains({ db, clock }: AccountsParts, organizationId: OrganizationId): Promise<DomainId> {
  const now = clock.nowMs()
  const newId = (): DomainId => `dom_${randomUUID().replaceAll('-', '')}`
  const domain = { organization_id: organizationId, token: domainToken, created_at: now }
  const id = newId()
  const rows = [
    { id, name: `d${randomUUID()}.example`, verified_at: null, ...domain },
    { id: newId(), name: `v${randomUUID()}.example`, verified_at: now, ...domain },
  ]
  await db.insertInto('domains').values(rows).execute()
  return id
}

/** A connection that speaks SAML, made of one that does not. */
export async function copyAsSaml({ db }: AccountsParts, from: ConnectionId): Promise<ConnectionId> {
  const id: ConnectionId = `conn_${randomUUID().replaceAll('-', '')}`
  const row = await db.selectFrom('connections').selectAll().where('id', '=', from).executeTakeFirstOrThrow()
  const secret_sealed = sealKeys({ signIn: testSignIn }, id, [providerKey])
  await db
    .insertInto('connections')
    .values({ ...row, id, kind: 'saml', secret_sealed })
    .execute()
  const plain = { metadata_url: null, sign_in_url: 'https://idp.example.com/sso', sign_out_url: null }
  const names = { name_id_format: 'persistent', email_attribute: null, name_attribute: null } as const
  const rules = { verifies_emails: 1, forces_sign_in: 0, authn_context: null, provider_initiated: 'off' } as const
  const read = { read_at: row.created_at, failed_at: null, failure: null }
  const { organization_id } = row
  await db
    .insertInto('saml_connections')
    .values({ connection_id: id, organization_id, ...plain, ...names, ...rules, ...read })
    .execute()
  return id
}
