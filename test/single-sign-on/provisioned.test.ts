// Whoever a directory has told of signs in as the member that it has made of them, by the name that both have for them.

import { deepEqual, equal } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createDirectory } from '../../src/accounts/directory/directories.ts'
import type { ConnectionId, MemberId } from '../../src/core/ids.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { openSso, type Sso } from './open-sso.ts'

const operator = { kind: 'operator' } as const

onEachDatabase((database) => {
  let sso: Sso
  let connectionId: ConnectionId
  let token = ''
  before(async () => {
    sso = await openSso(await database.open())
    const { organizationId } = sso.company
    const settings = { organizationId, name: 'Directory', defaultRole: 'developer' } as const
    token = (await createDirectory(sso.service.accounts, operator, settings)).token
    connectionId = await sso.connect({ makesMembers: false })
  })
  after(() => sso.close())

  const tell = async (user: Readonly<Record<string, unknown>>): Promise<MemberId> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' }
    const { status, body, text } = await sso.service.ask({
      method: 'POST',
      path: '/scim/v2/Users',
      headers,
      body: user,
    })
    equal(status, 201, text)
    return body['id'] as MemberId
  }
  /** As which member the provider's word lets somebody in; null for nobody, with why. */
  const signIn = async (claims: Readonly<Record<string, unknown>>) => {
    const browser = sso.browser()
    sso.service.clock.advance(1_000)
    sso.provider.lie = { claims: (truth) => ({ ...truth, ...claims }) }
    await browser.back(connectionId, sso.provider.authorize(await browser.begin(connectionId)))
    const { memberships = [] } = (await browser.ask('GET', 'session')).body as {
      readonly memberships?: readonly { readonly memberId: MemberId }[]
    }
    const { code } = await sso.service.db
      .selectFrom('login_attempts')
      .select('code')
      .orderBy('at', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    return memberships[0]?.memberId ?? code
  }
  const unverified = { email: 'somebody@elsewhere.example', email_verified: false }

  test('by its own id, whatever their address is and whether the connection makes members', async () => {
    const id = await tell({ userName: 'ann@acme.example', externalId: 'sub-ann' })
    equal(await signIn({ sub: 'sub-ann', ...unverified }), id)
    equal(await signIn({ sub: 'sub-ann', email: 'moved@elsewhere.example' }), id)
    equal(await signIn({ sub: 'sub-other', ...unverified }), 'email-unverified')
  })

  test('by a name that is their verified address, and by one that is not verified nobody', async () => {
    const emails = [{ value: 'private@other.example' }]
    const id = await tell({ userName: 'Bo@acme.example', emails })
    equal(await signIn({ sub: 'sub-bo', email: 'bo@acme.example', email_verified: false }), 'email-unverified')
    equal(await signIn({ sub: 'sub-bo', email: 'bo@acme.example', email_verified: 'true' }), 'email-unverified')
    equal(await signIn({ sub: 'sub-bo', email: 'bo@acme.example', email_verified: true }), id)
  })

  test('as neither of two whom it could mean by these', async () => {
    const emails = [{ value: 'two@other.example' }]
    const ids = [await tell({ userName: 'one@acme.example', externalId: 'sub-two' })]
    ids.push(await tell({ userName: 'two@acme.example', emails }))
    const came = await signIn({ sub: 'sub-two', email: 'two@acme.example', email_verified: true })
    deepEqual([came, ids.includes(came as MemberId)], ['not-known', false])
  })

  test('not while the directory has them switched off, nor once somebody else is that member', async () => {
    await tell({ userName: 'off@acme.example', externalId: 'sub-off', active: false })
    equal(await signIn({ sub: 'sub-off', ...unverified }), 'member-suspended')
    const taken = await tell({ userName: 'taken@acme.example', externalId: 'sub-taken' })
    equal(await signIn({ sub: 'sub-taken', ...unverified }), taken)
    const intruder = { sub: 'sub-intruder', email: 'taken@acme.example', email_verified: true }
    equal(await signIn(intruder), 'link-first')
  })

  test('as the member made of them anew, after the directory has removed them, under the old name or a new one', async () => {
    const remove = async (id: MemberId) => {
      const headers = { authorization: `Bearer ${token}` }
      equal((await sso.service.ask({ method: 'DELETE', path: `/scim/v2/Users/${id}`, headers })).status, 204)
    }
    const first = await tell({ userName: 'dee@acme.example', externalId: 'sub-dee' })
    const dee = { sub: 'sub-dee', email: 'dee@acme.example', email_verified: true }
    equal(await signIn(dee), first)
    await remove(first)
    equal(await signIn(dee), 'member-removed')
    const second = await tell({ userName: 'dee@acme.example', externalId: 'sub-dee' })
    equal(await signIn(dee), second)
    await remove(second)
    const third = await tell({ userName: 'dee@acme.example', externalId: 'sub-dee-2' })
    equal(await signIn({ ...dee, sub: 'sub-dee-2' }), third)
    equal(await signIn(dee), 'link-first')
  })
})
