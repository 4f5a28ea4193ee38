// The portal: what the owner of a key sees by showing it, and that it opens nothing else.

import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createApiKey, revokeApiKey } from '../../../src/accounts/api-keys.ts'
import { setPrice } from '../../../src/billing/prices/prices.ts'
import { raiseBudget, setBudget } from '../../../src/limits/settings/budget-settings.ts'
import { openMemoryDatabase } from '../../harness/databases/memory-database.ts'
import { openManagementService, type Answer, type ManagementService } from '../../harness/management-service.ts'
import { addRequest, createCompany, type Company } from './world.ts'

const operator = { kind: 'operator' } as const
const own = { host: 'localhost:8080', origin: 'http://localhost:8080', 'sec-fetch-site': 'same-origin' }

type ShownRates = { readonly input: number }
type ShownPrice = {
  readonly model: string
  readonly current: { readonly rates: ShownRates } | null
  readonly announced: readonly { readonly rates: ShownRates | null; readonly from: string }[]
}
type PublicPrice = { readonly model: string; readonly announced: readonly { readonly rates: ShownRates | null }[] }

const ratesOf = (input: number | null) =>
  input === null ? null : { input, cacheRead: 0, cacheWriteShort: input, cacheWriteLong: input, output: input }

describe('the portal of a key', () => {
  let service: ManagementService
  let company: Company
  let key: { readonly id: `key_${string}`; readonly key: string }
  let cookie = ''

  before(async () => {
    service = await openManagementService(await openMemoryDatabase())
    company = await createCompany(service.accounts)
    const { organizationId, projectId } = company
    const wanted = { organizationId, projectId }
    key = await createApiKey(service.accounts, operator, { ...wanted, name: 'the shown one' })
    const other = await createApiKey(service.accounts, operator, { ...wanted, name: 'another' })
    await addRequest(service.accounts, { organizationId, projectId, apiKeyId: key.id })
    await addRequest(service.accounts, { organizationId, projectId, apiKeyId: other.id })
  })
  after(() => service.close())

  const ask = (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown, headers = {}): Promise<Answer> =>
    service.ask({
      method,
      path: `/api/v1/portal${path}`,
      headers: { ...own, cookie, ...headers },
      ...(body !== undefined && { body }),
    })
  const show = (text: string) => ask('POST', '/session', { key: text })

  test('shows nothing to who has shown no key, or a wrong one', async () => {
    for (const path of ['', '/usage', '/requests', '/statement', '/limit-requests']) {
      equal((await ask('GET', path)).status, 401, path)
    }
    const wrong = `${key.key.slice(0, -1)}${key.key.endsWith('A') ? 'B' : 'A'}`
    for (const text of ['', 'nothing', wrong, service.key]) equal((await show(text)).status, 401)
  })

  test('shows the key, its limits and its own requests alone', async () => {
    const answer = await show(key.key)
    equal(answer.status, 200, answer.text)
    const set = String(answer.headers['set-cookie'])
    match(set, /^odyssey-portal=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=1800$/)
    ok(!answer.text.includes(key.key) && !set.includes(key.key), 'The key is in no answer.')
    cookie = set.split(';', 1)[0] ?? ''
    deepEqual((answer.body['key'] as { readonly name: string }).name, 'the shown one')
    const { data } = (await ask('GET', '/requests')).body as { readonly data: readonly unknown[] }
    equal(data.length, 1)
    const { totals, days } = (await ask('GET', '/usage')).body as {
      readonly totals: { readonly requests: number }
      readonly days: readonly unknown[]
    }
    deepEqual([totals.requests, days.length], [1, 30])
    const statement = await ask('GET', '/statement')
    deepEqual(statement.text.trim().split('\n').length, 2)
  })

  test('shows a budget with what it has by a raise, until that is over', async () => {
    const { organizationId } = company
    const { accounts, clock } = service
    const subject = { kind: 'api-key', id: key.id } as const
    const wanted = { organizationId, subject, period: 'month', microsMax: 100 } as const
    const { id } = await setBudget(accounts, operator, { ...wanted, tokensMax: 4 })
    const untilMs = clock.nowMs() + 60_000
    const raise = { microsMax: 250, tokensMax: 5, untilMs }
    await raiseBudget(accounts, operator, { organizationId, id, raise })
    // The larger one counts: a budget may be given more while it is raised.
    await setBudget(accounts, operator, { ...wanted, tokensMax: 9 })
    const shown = async () => {
      const { budgets } = (await ask('GET', '')).body as { readonly budgets: readonly Record<string, unknown>[] }
      return budgets.map(({ microsMax, tokensMax, raisedUntil }) => [microsMax, tokensMax, raisedUntil])
    }
    deepEqual(await shown(), [[250, 9, new Date(untilMs).toISOString()]])
    clock.advance(60_000)
    deepEqual(await shown(), [[100, 9, null]])
  })

  test('announces what its requests will really cost, and not every price that was set', async () => {
    const { organizationId } = company
    const { accounts, clock } = service
    const hourMs = 3_600_000
    const set = (whose: typeof organizationId | null, input: number | null, effectiveAtMs: number | null = null) =>
      setPrice({ ...accounts, currency: 'USD' }, operator, {
        organizationId: whose,
        model: 'hal-1.0',
        rates: ratesOf(input),
        effectiveAtMs,
      })
    const shown = async () => {
      const { prices } = (await ask('GET', '')).body as { readonly prices: readonly ShownPrice[] }
      const { current, announced } = prices.find(({ model }) => model === 'hal-1.0') ?? {}
      const later = announced?.map(({ rates, from }) => [rates?.input ?? null, Date.parse(from)])
      return { now: current?.rates.input ?? null, later }
    }
    await set(null, 1_000_000)
    await set(organizationId, 500_000)
    clock.advance(20_000)
    const now = clock.nowMs()
    // Nothing changes by it: the own price counts then.
    await set(null, 9_000_000, now + hourMs)
    deepEqual(await shown(), { now: 500_000, later: [] })
    await set(organizationId, null, now + 2 * hourMs)
    deepEqual(await shown(), { now: 500_000, later: [[9_000_000, now + 2 * hourMs]] })
    await set(null, null, now + 3 * hourMs)
    const free = [null, now + 3 * hourMs]
    deepEqual(await shown(), { now: 500_000, later: [[9_000_000, now + 2 * hourMs], free] })
    const general = (await service.ask({ path: '/api/v1/public/prices' })).body['data'] as readonly PublicPrice[]
    deepEqual(
      general.find(({ model }) => model === 'hal-1.0')?.announced.map(({ rates }) => rates?.input ?? null),
      [9_000_000, null],
    )
  })

  test('opens no other route', async () => {
    const { organizationId } = company
    for (const path of ['/api/v1/session', `/api/v1/organizations/${organizationId}/api-keys`, '/api/v1/prices']) {
      equal((await service.ask({ path, headers: { ...own, cookie } })).status, 401, path)
    }
    equal((await service.ask({ path: '/v1/models', headers: { cookie } })).status, 401)
  })

  test('is closed to pages of other sites', async () => {
    equal((await ask('GET', '', undefined, { 'sec-fetch-site': 'cross-site' })).status, 401)
    equal((await ask('POST', '/session', { key: key.key }, { 'sec-fetch-site': 'cross-site' })).status, 403)
  })

  test('takes a request for higher limits, which members see and answer once', async () => {
    const body = { wanted: { inputTokensPerMinute: 400_000 }, reason: 'More users.', contact: 'bo@example.org' }
    equal((await ask('POST', '/limit-requests', { ...body, wanted: {} })).status, 400)
    equal((await ask('POST', '/limit-requests', body)).status, 204)
    const path = `/api/v1/organizations/${company.organizationId}/limit-requests`
    const list = async (query = '') =>
      (await service.ask({ path: `${path}${query}`, key: service.key })).body['data'] as readonly {
        readonly id: string
        readonly askedBy: string
        readonly state: string
        readonly answer: string | null
      }[]
    const [asked] = await list('?state=open')
    ok(asked)
    equal(asked.askedBy, key.id)
    const answer = (verb: string) =>
      service.ask({ method: 'POST', path: `${path}/${asked.id}/${verb}`, key: service.key, body: { answer: 'Done.' } })
    deepEqual([(await answer('approve')).status, (await answer('decline')).status], [204, 409])
    deepEqual([(await list('?state=open')).length, (await list())[0]?.state], [0, 'approved'])
    const { data } = (await ask('GET', '/limit-requests')).body as {
      readonly data: readonly { readonly answer: string }[]
    }
    equal(data[0]?.answer, 'Done.')
    ok(!JSON.stringify(data).includes('mkey_'), 'Who answered is not told.')
  })

  test('lets a key ask for no more than five things at a time', async () => {
    const body = { wanted: { concurrency: 9 }, reason: 'More.' }
    const statuses = await Promise.all(Array.from({ length: 6 }, () => ask('POST', '/limit-requests', body)))
    deepEqual(
      statuses.map(({ status }) => status).toSorted((one, other) => one - other),
      [204, 204, 204, 204, 204, 409],
    )
  })

  test('is over after half an hour, and at once when the key is revoked', async () => {
    equal((await ask('GET', '')).status, 200)
    service.clock.advance(30 * 60_000)
    equal((await ask('GET', '')).status, 401)
    cookie = ''
    cookie = String((await show(key.key)).headers['set-cookie']).split(';', 1)[0] ?? ''
    equal((await ask('GET', '')).status, 200)
    await revokeApiKey(service.accounts, operator, { id: key.id, organizationId: company.organizationId })
    equal((await ask('GET', '')).status, 401)
    equal((await show(key.key)).status, 401)
  })
})
