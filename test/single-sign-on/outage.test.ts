// The provider is away for an hour: who is signed in stays so, nobody new comes in, and programs notice nothing.

import { deepEqual, equal, match } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApiKey } from '../../src/accounts/api-keys.ts'
import { updateConnection } from '../../src/accounts/single-sign-on/connections.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { testSignIn } from '../harness/management.ts'
import { signInPerson } from '../harness/sign-in.ts'
import { openSso, type Sso } from './open-sso.ts'

const operator = { kind: 'operator' } as const
const minuteMs = 60_000

onEachDatabase((database) => {
  let sso: Sso
  before(async () => {
    sso = await openSso(await database.open())
  })
  after(() => sso.service.close())

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
