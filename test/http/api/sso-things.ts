import { randomUUID } from 'node:crypto'
import { createDirectory } from '../../../src/accounts/directory/directories.ts'
import { createConnection } from '../../../src/accounts/single-sign-on/connections.ts'
import { sealKeys } from '../../../src/accounts/single-sign-on/saml/keys.ts'
import { createCertifiedKey } from '../../../src/accounts/single-sign-on/saml/certified-key.ts'
import type { ConnectionId } from '../../../src/core/ids.ts'
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
  defaultRole: 'developer',
} as const

/** A connection that was tried, a domain that is yet to be verified, and an owner who could come in without it. */
export async function createSsoThings(parts: AccountsParts, { organizationId, members }: Company) {
  const { db, clock } = parts
  const now = clock.nowMs()
  const connectionId = await createConnection({ ...parts, signIn: testSignIn }, operator, {
    ...newConnection,
    organizationId,
  })
  const { user } = await signInPerson(parts, {})
  const breakGlassId = members.owner.memberId
  const owner = await db.selectFrom('members').select('user_id').where('id', '=', breakGlassId).executeTakeFirst()
  if (typeof owner?.user_id !== 'string')
    await db.updateTable('members').set({ user_id: user.userId }).where('id', '=', breakGlassId).execute()
  const key = { rp_id: 'ai.example.com', public_key: '', counter: 0, transports: '[]', is_backed_up: 0, name: 'P' }
  await db
    .insertInto('passkeys')
    .values({ id: randomUUID(), user_id: owner?.user_id ?? user.userId, ...key, created_at: now, last_used_at: now })
    .execute()
  await db
    .updateTable('connections')
    .set({ state: 'on', tested_by: owner?.user_id ?? user.userId, tested_at: now })
    .where('id', '=', connectionId)
    .execute()
  const domain = { organization_id: organizationId, token: domainToken, created_at: now }
  const domainId = `dom_${randomUUID().replaceAll('-', '')}` as const
  const rows = [
    { id: domainId, name: `d${randomUUID()}.example`, verified_at: null, ...domain },
    {
      id: `dom_${randomUUID().replaceAll('-', '')}` as const,
      name: `v${randomUUID()}.example`,
      verified_at: now,
      ...domain,
    },
  ]
  await db.insertInto('domains').values(rows).execute()
  const { id: directoryId } = await createDirectory(parts, operator, {
    organizationId,
    name: 'Directory',
    defaultRole: 'developer',
  })
  const samlConnectionId = await copyAsSaml(parts, connectionId)
  return { connectionId, samlConnectionId, domainId, breakGlassId, directoryId }
}

/** A connection that speaks SAML, made of one that does not. */
async function copyAsSaml({ db }: AccountsParts, from: ConnectionId): Promise<ConnectionId> {
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
