import { randomUUID } from 'node:crypto'
import { createConnection } from '../../../src/accounts/single-sign-on/connections.ts'
import type { AccountsParts } from '../../../src/accounts/parts.ts'
import { domainToken, testSignIn } from '../../harness/management.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import type { Company } from './world.ts'

const operator = { kind: 'operator' } as const

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
  return { connectionId, domainId, breakGlassId }
}
