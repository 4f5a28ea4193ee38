// The provider never answers, or is away for an hour: who is signed in stays so, nobody new comes in or waits for long, and
// programs notice nothing.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, describe, test, type TestContext } from 'node:test'
import { createApiKey } from '../../src/accounts/api-keys.ts'
import { updateConnection } from '../../src/accounts/single-sign-on/connections.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { testSignIn } from '../harness/management.ts'
import type { Answer } from '../harness/management-service.ts'
import { signInPerson } from '../harness/sign-in.ts'
import type { Lie } from './hostile-provider.ts'
import { openSso, type Sso } from './open-sso.ts'
import { newSamlConnection } from './saml/open-saml.ts'

const operator = { kind: 'operator' } as const
const minuteMs = 60_000

onEachDatabase((database) => {
  let sso: Sso
  before(async () => {
    sso = await openSso(await database.open())
  })
  after(() => sso.service.close())

  describe('a provider that takes a request and never answers is left after five seconds', () => {
    type Hanging = { readonly at: string; work(): Promise<Answer>; readonly lie?: Lie }

    /** Has time run out for the request that hangs, and for no other. */
    async function leave(t: TestContext, { at, work, lie = {} }: Hanging): Promise<Answer> {
      const limits: { readonly ms: number; end(): void }[] = []
      const timeout = t.mock.method(AbortSignal, 'timeout', (ms: number) => {
        const limit = new AbortController()
        limits.push({ ms, end: () => limit.abort(new DOMException('The time is up.', 'TimeoutError')) })
        return limit.signal
      })
      sso.provider.lie = { ...lie, hangsAt: at }
      const hangs = sso.provider.hangs()
      const answering = work()
      const { givenUp } = await hangs
      timeout.mock.restore()
      ok(limits.length > 0 && limits.every(({ ms }) => ms === 5_000), limits.map(({ ms }) => ms).join())
      for (const { end } of limits) end()
      await givenUp
      const answer = await answering
      sso.provider.lie = {}
      return answer
    }

    const isTold = ({ status, text }: Answer) => {
      equal(status, 400)
      match(text, /We could not sign you in[^]*req_\w+/)
    }

    test('where it says what it is', async (t) => {
      const browser = sso.browser()
      const id = await sso.connect()
      isTold(await leave(t, { at: '/.well-known/openid-configuration', work: () => browser.go(`/sso/${id}/start`) }))
    })

    const withoutEmail: Lie = { claims: ({ email: _, email_verified: _verified, ...claims }) => claims }
    for (const [where, at, lie] of [
      ['where it gives tokens', '/token', {}],
      ['where it shows its keys', '/jwks', {}],
      ['where it tells of people', '/userinfo', withoutEmail],
    ] as const) {
      test(where, async (t) => {
        const browser = sso.browser()
        const id = await sso.connect()
        const back = sso.provider.authorize(await browser.begin(id))
        isTold(await leave(t, { at, lie, work: () => browser.back(id, back) }))
        equal(browser.isSignedIn, false)
      })
    }

    test('while somebody signs out, who is signed out here all the same', async (t) => {
      sso.provider.lie = { claims: (claims) => ({ ...claims, sub: 'bo', email: 'bo@acme.example' }) }
      const id = await sso.connect({ signsOutThere: true })
      const browser = sso.browser()
      equal((await browser.back(id, sso.provider.authorize(await browser.begin(id)))).status, 303)
      const reference = { id, organizationId: sso.company.organizationId }
      // With another secret what was known of the provider counts no more.
      await updateConnection({ ...sso.service.accounts, signIn: testSignIn }, operator, reference, {
        clientSecret: 'n',
      })
      const work = () => browser.ask('POST', 'session/sign-out')
      const { status, body } = await leave(t, { at: '/.well-known/openid-configuration', work })
      deepEqual([status, body['location']], [200, null])
      equal((await browser.ask('GET', 'session')).status, 401)
    })

    test('where its SAML description is', async (t) => {
      const { service, company, provider } = sso
      const path = `/api/v1/organizations/${company.organizationId}/connections/saml`
      const body = { ...newSamlConnection, metadataUrl: `${provider.issuer}/metadata` }
      const answer = await leave(t, {
        at: '/metadata',
        work: () => service.ask({ method: 'POST', path, key: service.key, body }),
      })
      equal(answer.status, 400, answer.text)
      match(answer.text, /metadataUrl.*cannot be read/)
    })
  })

  test('a provider that is away for an hour ends no session and no key, and lets nobody in or through', async () => {
    const { service, company, provider } = sso
    const { organizationId, projectId } = company
    const connectionId = await sso.connect()
    const browser = sso.browser()
    provider.lie = { claims: (claims) => ({ ...claims, sub: 'ann', email: 'ann@acme.example' }) }
    equal((await browser.back(connectionId, provider.authorize(await browser.begin(connectionId)))).status, 303)
    const { key } = await createApiKey(service.accounts, operator, { name: 'k', organizationId, projectId })
    const begun = sso.browser()
    const code = provider.authorize(await begun.begin(connectionId))
    await provider.close()

    const refused = await begun.back(connectionId, code)
    deepEqual([refused.status, begun.isSignedIn], [400, false])
    match(refused.text, /We could not sign you in[^]*req_\w+/)
    equal(await readRefusal(), 'provider-unreachable')
    const body = { model: 'clarke-1.0', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] }
    for (let minutes = 0; minutes < 60; minutes += 10) {
      service.clock.advance(10 * minuteMs)
      equal((await browser.ask('GET', 'session')).status, 200)
      equal((await service.ask({ method: 'POST', path: '/v1/messages', key, body })).status, 200)
    }
    // Who owns the place comes in by a passkey meanwhile.
    const owner = await signInPerson(service.accounts, { memberId: company.members.owner.memberId })
    equal((await service.ask({ path: '/api/v1/session', headers: owner.headers })).status, 200)

    async function readRefusal() {
      const path = `/api/v1/organizations/${organizationId}/connections/${connectionId}/attempts`
      const { body: found } = await service.ask({ path, key: service.key })
      const attempts = found['data'] as { outcome: string; code: string | null }[]
      return attempts.find(({ outcome }) => outcome === 'refused')?.code
    }
  })

  test('a provider that was never read and is away is told as a page, and begins nothing', async () => {
    const { service, company } = sso
    const connectionId = await sso.connect({}, 'http://127.0.0.1:9')
    const reference = { id: connectionId, organizationId: company.organizationId }
    await updateConnection({ ...service.accounts, signIn: testSignIn }, operator, reference, { name: 'Away' })
    const answer = await sso.browser().go(`/sso/${connectionId}/start`)
    equal(answer.status, 400)
    match(answer.text, /We could not sign you in[^]*req_\w+/)
    const flows = service.db.selectFrom('sso_flows').select('state_hash').where('connection_id', '=', connectionId)
    equal((await flows.execute()).length, 0)
  })
})
