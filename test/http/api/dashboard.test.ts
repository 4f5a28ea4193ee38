// What the pages of the dashboard ask for, beyond what programs asked for before.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setPrice } from '../../../src/billing/prices/prices.ts'
import type { ApiKeyId } from '../../../src/core/ids.ts'
import type { Permission } from '../../../src/core/permission.ts'
import { insertRows } from '../../../src/billing/ledger/writer/insert-rows.ts'
import { rowsReadBy } from '../../harness/databases/count-statements.ts'
import { ledgerRow } from '../../harness/databases/ledger-row.ts'
import { onEachDatabase } from '../../harness/databases/databases.ts'
import { openManagementService, type Answer, type ManagementService } from '../../harness/management-service.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import { createThings } from './things.ts'
import { addRequest, createCompany, newMemberOfPart, type Company } from './world.ts'

const operator = { kind: 'operator' } as const
const dayMs = 86_400_000

onEachDatabase(({ open }) => {
  let service: ManagementService
  let company: Company
  beforeEach(async () => {
    service = await openManagementService(await open())
    company = await createCompany(service.accounts)
  })
  afterEach(() => service.close())

  const within = (path: string) => `/api/v1/organizations/${company.organizationId}/${path}`
  const read = async (path: string): Promise<Record<string, unknown>> => {
    const answer = await service.ask({ path, key: service.key })
    equal(answer.status, 200, answer.text)
    return answer.body
  }
  const dataOf = async (path: string) => (await read(path))['data'] as Record<string, unknown>[]
  const post = (path: string, body?: unknown): Promise<Answer> =>
    service.ask({ method: 'POST', path: within(path), key: service.key, ...(body !== undefined && { body }) })
  const createKey = async (fields: object = {}) => {
    const answer = await post('api-keys', { name: 'key', projectId: company.projectId, ...fields })
    equal(answer.status, 201, answer.text)
    return answer.body as {
      readonly key: string
      readonly apiKey: { readonly id: ApiKeyId; readonly lastFour: string }
    }
  }

  describe('an API key', () => {
    test('is made with its limits and its budget in one transaction', async () => {
      const limits = [
        { model: '*', requestsPerMinute: 5 },
        { model: 'hal-1.0', concurrency: 2 },
      ]
      const { apiKey } = await createKey({ limits, budget: { period: 'month', microsMax: 1_000_000 } })
      const ownLimits = await dataOf(within('limits'))
      const subject = { kind: 'api-key', id: apiKey.id }
      deepEqual(new Set(ownLimits.map(({ model }) => model)), new Set(['*', 'hal-1.0']))
      for (const limit of ownLimits) deepEqual(limit['subject'], subject)
      deepEqual(
        (await dataOf(within('budgets'))).map((budget) => budget['subject']),
        [subject],
      )
      const before = (await dataOf(within('api-keys'))).length
      const refused = await post('api-keys', {
        name: 'none',
        projectId: company.projectId,
        limits: [{ model: '*', requestsPerMinute: 0 }],
      })
      equal(refused.status, 400)
      equal((await dataOf(within('api-keys'))).length, before)
    })

    test('comes with limits from nobody who may not set any', async () => {
      const { headers } = await signInPerson(service.accounts, { memberId: company.members.developer.memberId })
      const ask = (more: object) =>
        service.ask({
          method: 'POST',
          path: within('api-keys'),
          headers,
          body: { name: 'x', projectId: company.projectId, ...more },
        })
      equal((await ask({ limits: [{ model: '*', requestsPerMinute: 5 }] })).status, 403)
      equal((await dataOf(within('api-keys'))).length, 0)
      equal((await ask({})).status, 201)
    })

    test('is found by a part of its name, its last letters, its owner, its state, its use and its end', async () => {
      const ownerId = company.members.developer.memberId
      const plain = await createKey({ name: '100%_sure' })
      const owned = await createKey({ name: 'Laptop', ownerId, models: ['hal-1.0'] })
      const ending = await createKey({
        name: 'Ending',
        expiresAt: new Date(service.clock.nowMs() + dayMs).toISOString(),
      })
      await post(`api-keys/${plain.apiKey.id}/disable`)
      const find = async (query: string) => (await dataOf(within(`api-keys?${query}`))).map(({ name }) => name)
      deepEqual(await find('q=laptop'), ['Laptop'])
      deepEqual(await find('q=100%25_'), ['100%_sure'])
      deepEqual(await find('q=%25'), ['100%_sure'])
      deepEqual(await find(`q=${owned.apiKey.lastFour}`), ['Laptop'])
      deepEqual(await find(`q=${ending.apiKey.id}`), ['Ending'])
      deepEqual(await find(`ownerId=${ownerId}`), ['Laptop'])
      deepEqual(await find('state=disabled'), ['100%_sure'])
      deepEqual(new Set(await find('state=active')), new Set(['Laptop', 'Ending']))
      deepEqual(new Set(await find('model=clarke-1.0')), new Set(['100%_sure', 'Ending']))
      deepEqual(await find('endsInDays=2'), ['Ending'])
      deepEqual(await find('unusedDays=1'), [])
      service.clock.sleep(dayMs)
      equal((await find('unusedDays=1')).length, 3)
      deepEqual(await find('state=expired'), ['Ending'])
    })
  })

  describe('a suspended member', () => {
    test('is let in nowhere, and their keys are refused, until they are restored with just these keys', async () => {
      const { memberId } = company.members.developer
      const person = await signInPerson(service.accounts, { memberId })
      const inUse = await createKey({ ownerId: memberId })
      const disabled = await createKey({ ownerId: memberId })
      await post(`api-keys/${disabled.apiKey.id}/disable`)
      const works = async ({ key }: { readonly key: string }) =>
        (await service.ask({ path: '/v1/models', key })).status === 200
      const isMember = async () =>
        (await service.ask({ path: within('projects'), headers: person.headers })).status === 200
      deepEqual([await works(inUse), await isMember()], [true, true])
      equal((await post(`members/${memberId}/suspend`)).status, 200)
      deepEqual([await works(inUse), await isMember()], [false, false])
      const restored = await post(`members/${memberId}/restore`)
      equal(restored.body['suspendedAt'], null)
      // The session has ended with the suspension, and another one is begun by signing in.
      deepEqual([await works(inUse), await works(disabled), await isMember()], [true, false, false])
    })

    test('is not the last owner', async () => {
      equal((await post(`members/${company.members.owner.memberId}/suspend`)).status, 409)
    })

    test('is told what would end with them and what stays', async () => {
      const { memberId } = company.members.admin
      const { headers } = await signInPerson(service.accounts, { memberId })
      const owned = await createKey({ ownerId: memberId })
      const made = await service.ask({
        method: 'POST',
        path: within('api-keys'),
        headers,
        body: { name: 'made', projectId: company.projectId, ownerId: company.members.developer.memberId },
      })
      const { id } = made.body['apiKey'] as { id: string }
      deepEqual(await read(within(`members/${memberId}/consequences`)), {
        keysOwned: [{ id: owned.apiKey.id, name: 'key' }],
        keysMadeForOthers: [{ id, name: 'made' }],
        managementKeysMade: [],
        invitationsMade: 0,
        agents: 0,
        sessions: 1,
      })
    })
  })

  describe('a request', () => {
    test('is found in the ledger by each of its filters', async () => {
      const { apiKey } = await createKey({ ownerId: company.members.developer.memberId })
      const whose = { ...company, apiKeyId: apiKey.id }
      const special = await addRequest(service.accounts, whose, {
        reason: 'length',
        protocol: 'chat-completions',
        is_stream: 0,
        client_request_id: 'mine',
        duration_ms: 9_000,
        cost_micros: 500,
        input_cache_read: 0,
      })
      await addRequest(service.accounts, { ...company, apiKeyId: 'key_other' }, {})
      const queries = [
        'reason=length',
        'protocol=chat-completions',
        'isStream=false',
        'clientRequestId=mine',
        'durationMsMin=9000',
        'costMicrosMin=500',
        'cacheMiss=true',
        `memberId=${company.members.developer.memberId}`,
        `q=${special}`,
      ]
      equal((await dataOf(within('ledger'))).length, 2)
      for (const query of queries) {
        const found = (await dataOf(within(`ledger?${query}`))).map(({ requestId }) => requestId)
        deepEqual(found, [special], query)
      }
      equal((await dataOf(within('ledger?q=req_'))).length, 2)
      equal((await dataOf(within('ledger?q=req_nothing'))).length, 0)
    })

    const setTestPrice = () =>
      setPrice({ ...service.accounts, currency: 'USD' }, operator, {
        organizationId: null,
        model: 'clarke-1.0',
        effectiveAtMs: service.clock.nowMs() + 60_000,
        rates: { input: 7, cacheRead: 1, cacheWriteShort: 9, cacheWriteLong: 20, output: 51 },
      })

    test('is explained by lines that add up to its charge, and by the times it took', async () => {
      const price = await setTestPrice()
      const { apiKey } = await createKey({ name: 'laptop' })
      const tokens = {
        input_uncached: 3,
        input_cache_read: 200,
        input_cache_write: 50,
        input_cache_write_long: 20,
        output: 11,
      }
      const picos = 3 * 7 + 200 * 1 + 30 * 9 + 20 * 20 + 11 * 51
      const cost = { price_id: price.id, cost_micros: 0, cost_rest_picos: picos }
      const id = await addRequest(service.accounts, { ...company, apiKeyId: apiKey.id }, { ...tokens, ...cost })
      const body = await read(`/api/v1/requests/${id}`)
      const lines = body['lines'] as { kind: string; tokens: number; rateMicros: number; costMicros: string }[]
      deepEqual(
        lines.map(({ kind, tokens: counted, rateMicros }) => [kind, counted, rateMicros]),
        [
          ['inputUncached', 3, 7],
          ['inputCacheRead', 200, 1],
          ['inputCacheWrite', 30, 9],
          ['inputCacheWriteLong', 20, 20],
          ['output', 11, 51],
        ],
      )
      const sum = lines.reduce((total, { costMicros }) => total + Math.round(Number(costMicros) * 1e6), 0)
      equal(sum, Math.round(Number((body['charge'] as { costMicros: string }).costMicros) * 1e6))
      deepEqual([body['savedMicros'], body['roundingMicros']], ['0.0012', null])
      deepEqual([body['apiKeyName'], body['projectName']], ['laptop', 'Default'])
      deepEqual([body['queueMs'], body['promptMs'], body['answerMs']], [2, 1, 9])
    })

    test('has no lines where it failed, and tells what an older charge was rounded by', async () => {
      const { id: price_id } = await setTestPrice()
      const whose = { ...company, apiKeyId: 'key_any' } as const
      const told = async (fields: Parameters<typeof addRequest>[2]) => {
        const body = await read(`/api/v1/requests/${await addRequest(service.accounts, whose, fields)}`)
        const lines = body['lines'] as readonly { readonly costMicros: string }[]
        const { costMicros } = body['charge'] as { readonly costMicros: string }
        return [costMicros, lines.map((line) => line.costMicros), body['roundingMicros'], body['savedMicros']]
      }
      const failed = { outcome: 'failed', reason: 'service-stopping', cost_micros: 0, cost_rest_picos: 0 } as const
      deepEqual(await told({ price_id, ...failed }), ['0', [], null, null])
      // Costs were once rounded to whole micro-units, and such rows have no rest.
      const lines = ['0.000021', '0.000002', '0.000009', '0.5712']
      const rounded = { output: 11_200, cost_rest_picos: null }
      deepEqual(await told({ price_id, ...rounded, cost_micros: 1 }), ['1', lines, '0.428768', '0.000012'])
      deepEqual(await told({ price_id, ...rounded, cost_micros: 0 }), ['0', lines, '-0.571232', '0.000012'])
    })
  })

  test('a request’s replica, why it was chosen and whose counts it has are for the installation alone', async () => {
    const { apiKey } = await createKey({})
    const routing = { candidates: 2, matchedTokens: 64, outstandingTokens: 128, heldMs: 3 }
    const elsewhere = {
      replica: 'http://10.0.0.4:8000',
      count_source: 'reported',
      routing: JSON.stringify(routing),
    } as const
    const id = await addRequest(service.accounts, { ...company, apiKeyId: apiKey.id }, elsewhere)
    const told = async (key: string) => {
      const { body } = await service.ask({ path: `/api/v1/requests/${id}`, key })
      return [body['replica'], body['countSource'], body['routing']]
    }
    deepEqual(await told(await service.createKey('owner', null)), ['http://10.0.0.4:8000', 'reported', routing])
    deepEqual(await told(await service.createKey('owner', company.organizationId)), [null, null, null])
  })

  describe('the search', () => {
    test('finds what may be seen and nothing else', async () => {
      const { apiKey } = await createKey({ name: 'Needle key' })
      await service.ask({
        method: 'POST',
        path: within('projects'),
        key: service.key,
        body: { name: 'Needle project' },
      })
      const other = await createCompany(service.accounts)
      const foreign = await addRequest(service.accounts, { ...other, apiKeyId: 'key_x' })
      const own = await addRequest(service.accounts, { ...company, projectId: company.siblingId, apiKeyId: apiKey.id })
      const find = async (role: keyof Company['members'], q: string) => {
        const { headers } = await signInPerson(service.accounts, { memberId: company.members[role].memberId })
        const { body } = await service.ask({ path: within(`search?q=${encodeURIComponent(q)}`), headers })
        return (body['data'] as { kind: string }[]).map(({ kind }) => kind)
      }
      deepEqual(await find('owner', 'needle'), ['api-key', 'project'])
      deepEqual(await find('developer', 'needle'), ['api-key'])
      deepEqual(await find('billing', 'needle'), ['project'])
      deepEqual(
        await find('owner', '@example.org'),
        Array.from({ length: 5 }, () => 'member'),
      )
      deepEqual(await find('developer', '@example.org'), [])
      deepEqual(await find('owner', own), ['request'])
      deepEqual(await find('developer', own), [])
      deepEqual(await find('owner', foreign), [])
      deepEqual(await find('owner', '%'), [])
    })

    test('leaves out what a part of a role does not see, and is no refusal', async () => {
      await createKey({ name: 'Default key' })
      const find = async (...permissions: Permission[]) => {
        const part = { base: 'developer', permissions: ['organizations:read', ...permissions] } as const
        const memberId = await newMemberOfPart(service.accounts, company, part)
        const { headers } = await signInPerson(service.accounts, { memberId })
        const { status, body, text } = await service.ask({ path: within('search?q=default'), headers })
        equal(status, 200, text)
        return (body['data'] as { kind: string }[]).map(({ kind }) => kind)
      }
      deepEqual(await find('usage:read'), [])
      deepEqual(await find('projects:read'), ['project'])
      deepEqual(await find('api-keys:read', 'projects:read'), ['api-key', 'project'])
    })
  })

  test('an alert is open until somebody takes note of it', async () => {
    const ownerId = company.members.developer.memberId
    const { alertId } = await createThings(service.accounts, { company, projectId: company.projectId, ownerId })
    const states = async () => [
      (await dataOf(within('alerts?state=open'))).map(({ id }) => id),
      (await dataOf(within('alerts?state=acknowledged'))).map(({ id }) => id),
    ]
    deepEqual(await states(), [[alertId], []])
    equal((await read(within('overview')))['openAlerts'], 1)
    equal((await post(`alerts/${alertId}/acknowledge`)).status, 204)
    deepEqual(await states(), [[], [alertId]])
    equal((await post(`alerts/${alertId}_9/acknowledge`)).status, 404)
  })

  test('the overview counts what the ledger holds, and says what is left to do', async () => {
    const done = async () => {
      const steps = (await read(within('overview')))['firstSteps'] as { step: string; isDone: boolean }[]
      return steps.filter(({ isDone }) => isDone).map(({ step }) => step)
    }
    deepEqual(await done(), [])
    const { apiKey } = await createKey({ name: 'busy' })
    for (const outcome of ['finished', 'failed', 'aborted'] as const) {
      await addRequest(service.accounts, { ...company, apiKeyId: apiKey.id }, { outcome, output: 10, cost_micros: 4 })
    }
    await addRequest(
      service.accounts,
      { ...company, apiKeyId: apiKey.id },
      { at: service.clock.nowMs() - dayMs, cost_micros: 1 },
    )
    deepEqual(await done(), ['key', 'request'])
    const body = await read(within('overview'))
    const minutes = body['minutes'] as Record<string, number>[]
    equal(minutes.length, 60)
    deepEqual({ ...minutes.at(-1), startsAt: 0 }, { startsAt: 0, requests: 3, failed: 1, aborted: 1, outputTokens: 30 })
    equal(body['costTodayMicros'], '12')
    const [busiest] = body['busiestKeys'] as Record<string, unknown>[]
    deepEqual(busiest, { id: apiKey.id, name: 'busy', requests: 3, costMicros: '12' })
    const { headers } = await signInPerson(service.accounts, { memberId: company.members.billing.memberId })
    const forBilling = await service.ask({ path: within('overview'), headers })
    deepEqual(
      [forBilling.body['costTodayMicros'], forBilling.body['busiestKeys']],
      ['12', []],
      'Who sees no keys sees none here.',
    )
    const memberId = await newMemberOfPart(service.accounts, company, {
      base: 'admin',
      permissions: ['organizations:read', 'api-keys:read'],
    })
    const sees = await signInPerson(service.accounts, { memberId })
    const withoutUsage = await service.ask({ path: within('overview'), headers: sees.headers })
    const { costTodayMicros, monthMicros, minutes: told, busiestKeys, firstSteps } = withoutUsage.body
    deepEqual(
      { status: withoutUsage.status, costTodayMicros, monthMicros, told, busiestKeys },
      { status: 200, costTodayMicros: null, monthMicros: null, told: [], busiestKeys: [] },
      'Who sees no usage is told of the models, and of what is left to set up.',
    )
    equal((firstSteps as unknown[]).length, 4)
    const ofModels = withoutUsage.body['models'] as { readonly firstTokenMs: unknown }[]
    deepEqual(new Set(ofModels.map(({ firstTokenMs }) => firstTokenMs)), new Set([null]))
    const models = body['models'] as { id: string; firstTokenMs: { p50: number } | null }[]
    equal(models.find(({ id }) => id === 'clarke-1.0')?.firstTokenMs?.p50, 3)
    ok(models.some(({ firstTokenMs }) => firstTokenMs === null))
  })

  test('the overview of an organization with many requests in the hour reads no more rows than of one with a thousand', async () => {
    const { apiKey } = await createKey({ name: 'busy' })
    const ids = {
      organization_id: company.organizationId,
      project_id: company.projectId,
      api_key_id: apiKey.id,
      at: service.clock.nowMs(),
      admitted_at: service.clock.nowMs(),
    }
    const many = Array.from({ length: 4_000 }, (_, number) => ({
      ...ledgerRow(number),
      ...ids,
      first_token_ms: number,
    }))
    for (let start = 0; start < many.length; start += 500) {
      await insertRows(service.accounts.db, many.slice(start, start + 500))
    }
    let body: Record<string, unknown> = {}
    const rowsRead = await rowsReadBy(async () => (body = await read(within('overview'))))
    ok(rowsRead > 0 && rowsRead < 1_500, `${rowsRead} rows were read`)
    const minutes = body['minutes'] as Record<string, number>[]
    equal(minutes.at(-1)?.['requests'], 4_000)
    const models = body['models'] as { id: string; firstTokenMs: { p50: number; p95: number } | null }[]
    deepEqual(
      models.find(({ id }) => id === 'clarke-1.0')?.firstTokenMs,
      { p50: 3_500, p95: 3_950 },
      'of the newest thousand',
    )
  })
})
