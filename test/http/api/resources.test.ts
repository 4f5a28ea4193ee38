import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { ApiKeyId } from '../../../src/core/ids.ts'
import { openMemoryDatabase } from '../../harness/databases/memory-database.ts'
import { signInPerson } from '../../harness/sign-in.ts'
import { openManagementService, type Answer, type ManagementService } from '../../harness/management-service.ts'
import { addRequest, createCompany, type Company } from './world.ts'

let service: ManagementService
let company: Company

beforeEach(async () => {
  service = await openManagementService(await openMemoryDatabase())
  company = await createCompany(service.accounts)
})
afterEach(() => service.close())

const within = (path: string) => `/api/v1/organizations/${company.organizationId}/${path}`
const ask = async (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown) => {
  const answer = await service.ask({ method, path, key: service.key, ...(body !== undefined && { body }) })
  ok(answer.status < 300, answer.text)
  return answer
}
const dataOf = ({ body }: Answer) => body['data'] as Record<string, unknown>[]

async function createKey(fields: object = {}): Promise<{ apiKey: Record<string, unknown>; key: string }> {
  const { body } = await ask('POST', within('api-keys'), { name: 'mine', projectId: company.projectId, ...fields })
  return body as { apiKey: Record<string, unknown>; key: string }
}
const statusWith = async (key: string) => (await service.ask({ path: '/v1/models', key })).status

describe('an API key', () => {
  test('an API key works as soon as it is answered, and is shown once', async () => {
    const { apiKey, key } = await createKey({ models: ['clarke-1.0'], expiresAt: '2099-01-01T02:00:00+02:00' })
    equal(await statusWith(key), 200)
    deepEqual(
      [apiKey['models'], apiKey['expiresAt'], apiKey['state']],
      [['clarke-1.0'], '2099-01-01T00:00:00.000Z', 'active'],
    )
    const read = await ask('GET', within(`api-keys/${String(apiKey['id'])}`))
    deepEqual(read.body, apiKey)
    equal((await ask('GET', within('api-keys'))).text.includes(key), false)
  })

  test('an API key is refused as soon as it is disabled, not allowed or revoked', async () => {
    const { apiKey, key } = await createKey()
    const path = within(`api-keys/${String(apiKey['id'])}`)
    equal((await ask('POST', `${path}/disable`)).body['state'], 'disabled')
    equal(await statusWith(key), 401)
    equal((await ask('POST', `${path}/enable`)).body['state'], 'active')
    equal(await statusWith(key), 200)
    await ask('PATCH', path, { endpoints: ['messages'] })
    equal(await statusWith(key), 403)
    await ask('PATCH', path, { endpoints: null })
    equal(await statusWith(key), 200)
    equal((await ask('POST', `${path}/revoke`)).body['state'], 'revoked')
    equal(await statusWith(key), 401)
    const again = await service.ask({ method: 'POST', path: `${path}/revoke`, key: service.key })
    equal(again.status, 404)
  })

  test('an API key works on for the overlap when it is replaced', async () => {
    const { apiKey, key } = await createKey()
    const path = within(`api-keys/${String(apiKey['id'])}/rotate`)
    const rotated = (await ask('POST', path, { overlapSeconds: 60 })).body as {
      key: string
      apiKey: Record<string, unknown>
    }
    equal(rotated.apiKey['rotatedFrom'], apiKey['id'])
    deepEqual([await statusWith(key), await statusWith(rotated.key)], [200, 200])
    service.clock.advance(60_000)
    deepEqual([await statusWith(key), await statusWith(rotated.key)], [401, 200])
  })

  test('an API key needs a future end and a project of the organization', async () => {
    const refuse = async (fields: object) => {
      const body = { name: 'x', projectId: company.projectId, ...fields }
      return service.ask({ method: 'POST', path: within('api-keys'), key: service.key, body })
    }
    const past = await refuse({ expiresAt: '2020-01-01T00:00:00Z' })
    deepEqual([past.status, (past.body['errors'] as { path: string }[])[0]?.path], [400, 'expiresAt'])
    equal((await refuse({ projectId: 'proj_default' })).status, 404)
    equal((await refuse({ models: ['gpt-4o'] })).status, 400)
    equal((await refuse({ addresses: ['nowhere'] })).status, 400)
  })
})

test('a field that does not exist is told by the name that it was sent under', async () => {
  const names = ['expires', 'cursor', 'overlap', 'constructor', '__proto__']
  const body = JSON.parse(
    `{"name":"x","projectId":"proj_default",${names.map((name) => `"${name}":{}`).join(',')}}`,
  ) as object
  const { status, body: answer } = await service.ask({
    method: 'POST',
    path: within('api-keys'),
    key: service.key,
    body,
  })
  const paths = (answer['errors'] as { path: string }[]).map(({ path }) => path)
  deepEqual([status, paths.toSorted()], [400, names.toSorted()])
})

test('members keep an owner, and one e-mail each', async () => {
  const [owner] = [company.members.owner.memberId]
  const demote = await service.ask({
    method: 'PATCH',
    path: within(`members/${owner}`),
    key: service.key,
    body: { role: 'admin' },
  })
  equal(demote.status, 409)
  equal((await service.ask({ method: 'DELETE', path: within(`members/${owner}`), key: service.key })).status, 409)
  const person = { email: 'Ann@Example.org', name: 'Ann', role: 'developer', projectIds: [company.projectId] }
  const { body } = await ask('POST', within('members'), person)
  deepEqual([body['email'], body['projectIds']], ['ann@example.org', [company.projectId]])
  equal((await service.ask({ method: 'POST', path: within('members'), key: service.key, body: person })).status, 409)
})

test('a limit of a key that replaced another is in force, and stands at the first one', async () => {
  const { apiKey } = await createKey()
  const rotated = (await ask('POST', within(`api-keys/${String(apiKey['id'])}/rotate`), {})).body as {
    key: string
    apiKey: Record<string, unknown>
  }
  const place = { subject: { kind: 'api-key', id: rotated.apiKey['id'] }, model: '*' }
  const set = await ask('PUT', within('limits'), { ...place, requestsPerMinute: 1, isRequestsEnforced: true })
  deepEqual(set.body['subject'], { kind: 'api-key', id: apiKey['id'] })
  const body = { model: 'clarke-1.0', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }
  const generate = () => service.ask({ method: 'POST', path: '/v1/messages', key: rotated.key, body })
  deepEqual([(await generate()).status, (await generate()).status], [200, 429])
})

test('limits and budgets are those of the organization’s own, and in force at once', async () => {
  const subject = { kind: 'project', id: company.projectId }
  const set = await ask('PUT', within('limits'), {
    subject,
    model: '*',
    requestsPerMinute: 1,
    isRequestsEnforced: true,
  })
  equal(set.body['requestsPerMinute'], 1)
  const { key, apiKey } = await createKey()
  const request = { model: 'clarke-1.0', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }
  const generate = async () => (await service.ask({ method: 'POST', path: '/v1/messages', key, body: request })).status
  deepEqual([await generate(), await generate()], [200, 429])
  const changed = await ask('PUT', within('limits'), { subject, model: '*', concurrency: 3 })
  deepEqual([changed.body['id'], changed.body['requestsPerMinute']], [set.body['id'], null])
  equal(await generate(), 200)
  for (const foreign of [
    { kind: 'project', id: 'proj_default' },
    { kind: 'organization', id: 'org_default' },
  ]) {
    const body = { subject: foreign, model: '*', concurrency: 3 }
    equal((await service.ask({ method: 'PUT', path: within('limits'), key: service.key, body })).status, 404)
  }
  await ask('PUT', within('budgets'), { subject, period: 'month', microsMax: 1_000, alertPercents: [50, 80] })
  const whose = {
    organizationId: company.organizationId,
    projectId: company.projectId,
    apiKeyId: apiKey['id'] as ApiKeyId,
  }
  await addRequest(service.accounts, whose, { cost_micros: 250, output: 4 })
  const [budget = {}] = dataOf(await ask('GET', within('budgets')))
  equal((budget['spent'] as { micros: number }).micros, 250)
  deepEqual(budget['reserved'], { micros: 0, tokens: 0 })
  const reached = { period_start: Date.parse(String(budget['periodStartsAt'])), percent: 50, at: service.clock.nowMs() }
  const { organizationId: organization_id } = company
  const row = { ...reached, organization_id, budget_id: String(budget['id']), spent_micros: 500, spent_tokens: 4 }
  await service.db.insertInto('budget_alerts').values(row).execute()
  const until = new Date(service.clock.nowMs() + 60_000).toISOString()
  await ask('PUT', within(`budgets/${String(budget['id'])}/raise`), { microsMax: 2_000, until })
  const [raised = {}] = dataOf(await ask('GET', within('budgets')))
  deepEqual(raised['raise'], { microsMax: 2_000, tokensMax: null, until })
  deepEqual(raised['alerts'], [
    { percent: 50, reachedAt: new Date(reached.at).toISOString() },
    { percent: 80, reachedAt: null },
  ])
  service.clock.advance(60_000)
  equal(dataOf(await ask('GET', within('budgets')))[0]?.['raise'], null)
  await ask('DELETE', within(`budgets/${String(budget['id'])}`))
  deepEqual(dataOf(await ask('GET', within('budgets'))), [])
  equal((await service.ask({ method: 'DELETE', path: within('budgets/budget_x'), key: service.key })).status, 404)
})

test('prices are listed by when they are in force; one in the past is refused, and one in another currency', async () => {
  const rates = { input: 10, cacheRead: 1, cacheWriteShort: 12, cacheWriteLong: 20, output: 50 }
  const price = { model: 'hal-1.0', rates }
  await ask('POST', '/api/v1/prices', { ...price, effectiveAt: '2099-01-01T00:00:00Z' })
  await ask('POST', '/api/v1/prices', { ...price, organizationId: company.organizationId })
  await ask('POST', '/api/v1/prices', { ...price, organizationId: 'org_default' })
  const key = await service.createKey('billing', company.organizationId)
  const own = await service.ask({ path: '/api/v1/prices', key })
  deepEqual(
    dataOf(own).map(({ organizationId }) => organizationId),
    [company.organizationId, null],
  )
  equal(dataOf(await ask('GET', '/api/v1/prices?model=hal-1.0')).length, 3)
  const body = { ...price, effectiveAt: '2020-01-01T00:00:00Z' }
  equal((await service.ask({ method: 'POST', path: '/api/v1/prices', key: service.key, body })).status, 400)
  const foreign = { ...price, currency: 'EUR' }
  const refused = await service.ask({ method: 'POST', path: '/api/v1/prices', key: service.key, body: foreign })
  equal(refused.status, 400)
  match(refused.text, /prices in USD and not in EUR/)
  equal(dataOf(await ask('GET', '/api/v1/prices')).length, 3)
})

test('a price is voided before it is in force, and not when it is about to be', async () => {
  const rates = { input: 10, cacheRead: 1, cacheWriteShort: 12, cacheWriteLong: 20, output: 50 }
  const wanted = { model: 'tycho-1.0', rates }
  const ahead = await ask('POST', '/api/v1/prices', { ...wanted, effectiveAt: '2099-01-01T00:00:00Z' })
  await ask('DELETE', `/api/v1/prices/${String(ahead.body['id'])}`)
  deepEqual(dataOf(await ask('GET', '/api/v1/prices?model=tycho-1.0')), [])
  const gone = { method: 'DELETE', path: `/api/v1/prices/${String(ahead.body['id'])}`, key: service.key } as const
  equal((await service.ask(gone)).status, 404)
  const soon = await ask('POST', '/api/v1/prices', wanted)
  service.clock.advance(1)
  equal((await service.ask({ ...gone, path: `/api/v1/prices/${String(soon.body['id'])}` })).status, 409)
  equal(dataOf(await ask('GET', '/api/v1/prices?model=tycho-1.0')).length, 1)
})

describe('what was used', () => {
  let whose: { organizationId: Company['organizationId']; projectId: Company['projectId']; apiKeyId: ApiKeyId }

  beforeEach(async () => {
    const { apiKey } = await createKey()
    whose = { ...company, apiKeyId: apiKey['id'] as ApiKeyId }
    for (let number = 1; number <= 5; number++) {
      service.clock.advance(3_600_000)
      await addRequest(service.accounts, whose, { cost_micros: number, output: number, client_request_id: '=1+1,"x"' })
    }
    await addRequest(
      service.accounts,
      { ...whose, projectId: company.siblingId },
      { cost_micros: 100, model: 'hal-1.0' },
    )
  })

  test('usage is summed up by hour, day and model', async () => {
    const whole = dataOf(await ask('GET', within('usage?bucket=whole&groupBy=model')))
    deepEqual(
      whole.map(({ group, requests, costMicros }) => [group, requests, costMicros]),
      [
        ['clarke-1.0', 5, '15'],
        ['hal-1.0', 1, '100'],
      ],
    )
    const first = await ask('GET', within(`usage?bucket=hour&projectId=${company.projectId}&limit=3`))
    const rest = await ask(
      'GET',
      within(`usage?bucket=hour&projectId=${company.projectId}&limit=3&after=${String(first.body['next'])}`),
    )
    deepEqual(
      [...dataOf(first), ...dataOf(rest)].map(({ costMicros }) => costMicros),
      ['1', '2', '3', '4', '5'],
    )
    equal(rest.body['next'], null)
  })

  test('requests are listed newest first, filtered, in pages', async () => {
    const path = within(`ledger?projectId=${company.projectId}&limit=2`)
    const costs: unknown[] = []
    let after = ''
    do {
      const page = await ask('GET', `${path}${after}`)
      costs.push(...dataOf(page).map(({ costMicros }) => costMicros))
      after = page.body['next'] === null ? '' : `&after=${page.body['next'] as string}`
    } while (after !== '')
    deepEqual(costs, ['5', '4', '3', '2', '1'])
    equal(dataOf(await ask('GET', within('ledger?outcome=failed'))).length, 0)
    equal(dataOf(await ask('GET', within('ledger?model=hal-1.0'))).length, 1)
  })

  test('requests are counted by the days of a zone, with the filters of their list', async () => {
    const path = within(
      'requests/histogram?from=2026-03-28T23:00:00Z&to=2026-03-30T22:00:00Z&bucket=day&zone=Europe/Berlin',
    )
    // The day in between has 23 hours.
    for (const [at, outcome] of [
      ['2026-03-28T23:30:00Z', 'finished'],
      ['2026-03-29T21:59:59Z', 'failed'],
      ['2026-03-29T22:00:00Z', 'aborted'],
    ] as const) {
      await addRequest(service.accounts, whose, { at: Date.parse(at), outcome })
    }
    const { body } = await ask('GET', path)
    deepEqual(body, {
      zone: 'Europe/Berlin',
      startsAt: ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
      finished: [1, 0],
      aborted: [0, 1],
      failed: [1, 0],
      total: 3,
      countedFrom: null,
    })
    equal((await ask('GET', `${path}&outcome=failed`)).body['total'], 1)
    for (const [query, field] of [
      ['bucket=day&zone=Asia/Kolkata', 'zone'],
      ['from=2026-01-01T00:00:00Z&to=2026-06-01T00:00:00Z', 'from'],
      ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'to'],
    ] as const) {
      const refused = await service.ask({ path: within(`requests/histogram?${query}`), key: service.key })
      deepEqual([refused.status, (refused.body['errors'] as { path: string }[])[0]?.path], [400, field])
    }
  })

  test('requests are exported as CSV and JSON lines', async () => {
    const csv = await ask('GET', within('ledger/export?format=csv'))
    match(String(csv.headers['content-type']), /^text\/csv/)
    match(String(csv.headers['content-disposition']), /attachment; filename="ledger_org_\w+\.csv"/)
    const [head, ...lines] = csv.text.trimEnd().split('\r\n')
    match(head ?? '', /^requestId,kind,at,/)
    equal(lines.length, 6)
    ok(
      lines.slice(1).every((line) => line.endsWith(`,"'=1+1,""x""",,{}`)),
      'A formula is text, and quotes are doubled.',
    )
    const jsonl = await ask('GET', within('ledger/export'))
    const rows = jsonl.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    deepEqual(
      rows.map(({ costMicros }) => costMicros),
      ['100', '5', '4', '3', '2', '1'],
    )
    const audit = await ask('GET', within('audit/export?format=csv'))
    equal(audit.text.includes('api-keys:create'), true)
  })

  test('a listed request tells how much of its prompt was reused', async () => {
    const requestId = await addRequest(service.accounts, whose)
    const { body } = await ask('GET', `/api/v1/requests/${requestId}`)
    deepEqual(body['cache'], {
      source: 'slot',
      promptTokens: 6,
      reusedTokens: 2,
      firstDifference: { atToken: 2, in: 'user message 1, block 1' },
    })
    equal((body['charge'] as Record<string, unknown>)['requestId'], requestId)
  })

  test('a developer sees the usage of their own projects and no other', async () => {
    const { memberId } = company.members.developer
    const { headers } = await signInPerson(service.accounts, { memberId })
    const { apiKey } = await createKey()
    const ids = { ...company, apiKeyId: apiKey['id'] as ApiKeyId }
    await addRequest(service.accounts, ids, { cost_micros: 1 })
    await addRequest(service.accounts, { ...ids, projectId: company.siblingId }, { cost_micros: 2 })
    const read = async (path: string) => (await service.ask({ path: within(path), headers })).text
    for (const path of [
      'ledger',
      'ledger/export',
      `ledger?projectId=${company.siblingId}`,
      'ledger/export?format=csv',
    ]) {
      equal((await read(path)).includes(company.siblingId), false, path)
    }
    equal((await read('usage?bucket=whole')).includes('"costMicros":"16"'), true)
    deepEqual(
      dataOf(await service.ask({ path: within(`usage?bucket=whole&projectId=${company.siblingId}`), headers })),
      [],
    )
  })
})

test('the audit is listed newest first, and checked', async () => {
  await ask('PATCH', within(`projects/${company.projectId}`), { name: 'Renamed' })
  const [last] = dataOf(await ask('GET', within('audit?limit=1')))
  equal(typeof last?.['actorName'], 'string', 'Who has a name is named beside the id.')
  deepEqual([last?.['action'], last?.['after']], ['projects:update', { key_owners: 'anyone', name: 'Renamed' }])
  equal(dataOf(await ask('GET', within('audit?action=projects:update'))).length, 1)
  equal((await ask('GET', within('audit/verify'))).body['isIntact'], true)
  await service.db.updateTable('audit').set({ after: '{}' }).where('id', '=', String(last?.['id'])).execute()
  equal((await ask('GET', within('audit/verify'))).body['isIntact'], false)
})

test('the audit is checked in parts, and later only what was added since', async () => {
  for (const name of ['one', 'two', 'three', 'four'])
    await ask('PATCH', within(`projects/${company.projectId}`), { name })
  const { rows } = (await ask('GET', within('audit/verify'))).body as { rows: number }
  const parts: Record<string, unknown>[] = []
  for (let after = ''; ;) {
    const { body } = await ask('GET', within(`audit/verify?limit=3${after}`))
    parts.push(body)
    if (typeof body['next'] !== 'string') break
    after = `&after=${body['next']}`
  }
  equal(
    parts.reduce((sum, part) => sum + Number(part['rows']), 0),
    rows,
  )
  ok(parts.length > 2 && parts.every((part) => part['isIntact'] === true && Number(part['rows']) <= 3))
  const through = String(parts.at(-1)?.['through'])
  await ask('PATCH', within(`projects/${company.projectId}`), { name: 'five' })
  const since = (await ask('GET', within(`audit/verify?after=${through}`))).body
  deepEqual([since['rows'], since['isIntact'], since['next']], [1, true, null])
  for (const query of ['after=x', 'limit=0', 'limit=10001']) {
    const refused = await service.ask({ path: within(`audit/verify?${query}`), key: service.key })
    equal(refused.status, 400, query)
  }
})

test('the models are shown with their slots and queues', async () => {
  const { body } = await ask('GET', '/api/v1/models')
  equal((body['models'] as unknown[]).length, 3)
  deepEqual(body['queues'], [])
})
