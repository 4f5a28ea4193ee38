// Requests that are turned away, each for another reason, leave no row in the ledger: they are counted.

import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createPriceBook, openPriceBook, type PriceBook } from '../../src/billing/prices/price-book.ts'
import { monthOf } from '../../src/billing/availability/month.ts'
import { computeSla } from '../../src/billing/availability/report.ts'
import { modelIds } from '../../src/core/model.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { setBudget } from '../../src/limits/settings/budget-settings.ts'
import { setLimit } from '../../src/limits/settings/limit-settings.ts'
import { bodyFor, formats, paths, type Format } from '../harness/http/ask.ts'
import { openTestFeed } from '../harness/databases/change-feed.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'

const operator = { kind: 'operator' } as const
const countPath = '/v1/messages/count_tokens'

/** What is asked for the price of a request. */
let findPrice: PriceBook['find']
let service: FakeService
beforeEach(async () => {
  findPrice = () => null
  const prices: PriceBook = { find: (...of) => findPrice(...of) }
  service = await startFakeService({}, {}, { prices })
})
afterEach(() => service.close())

async function ask(path: string, body: unknown, key = service.key): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(`${service.address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  await response.text()
  return response.status
}

async function recorded() {
  await service.refusals.flush()
  const rows = await service.db.selectFrom('refusals').select(['organization_id', 'class', 'requests']).execute()
  const counted = rows.map((row) => [row.organization_id, row.class, row.requests] as const)
  const outcomes = await service.db.selectFrom('ledger').select('outcome').execute()
  return { counted: counted.toSorted(([, a], [, b]) => (a < b ? -1 : 1)), rows: outcomes.map(({ outcome }) => outcome) }
}

const subject = () => ({ organizationId: service.home.organizationId, model: '*' }) as const

for (const format of formats) {
  const path = paths[format]
  const good = (fields: Record<string, unknown> = {}) => bodyFor(format, { max_tokens: 100, ...fields })

  test(`${format}: refusals by limits and budgets write no row, and are counted by class`, async () => {
    const { organizationId, projectId } = service.home
    await setLimit(service.accounts, operator, {
      ...subject(),
      subject: { kind: 'project', id: projectId },
      inputTokensPerMinute: 25,
    })
    await service.limits.look()
    const statuses = await Promise.all(Array.from({ length: 12 }, () => ask(path, good())))
    deepEqual(
      [200, 429].map((wanted) => statuses.filter((status) => status === wanted).length),
      [2, 10],
    )
    await setBudget(service.accounts, operator, {
      organizationId,
      subject: { kind: 'organization', id: organizationId },
      period: 'month',
      tokensMax: 1,
    })
    await service.limits.look()
    service.clock.advance(59_000)
    equal(await ask(path, good()), 429)
    deepEqual(await recorded(), {
      counted: [
        [organizationId, 'budget-exceeded', 1],
        [organizationId, 'rate-limited', 10],
      ],
      rows: ['finished', 'finished'],
    })
  })

  test(`${format}: requests that are refused for what they ask write no row, and are counted by class`, async () => {
    equal(await ask(path, { model: 'clarke-1.0', messages: 'none' }), 400)
    equal(await ask(path, good({ model: 'nobody-1.0' })), 404)
    equal(await ask(path, good(), 'sk-ody-nobody'), 401)
    const { organizationId } = service.home
    deepEqual(await recorded(), {
      counted: [
        [organizationId, 'invalid-request', 1],
        [organizationId, 'model-not-found', 1],
        ['', 'unauthenticated', 1],
      ],
      rows: [],
    })
  })
}

/** A row of prices in another currency than the installation's. */
const foreign = {
  id: 'price_foreign',
  organizationId: null,
  model: 'clarke-1.0',
  effectiveAtMs: 0,
  currency: 'EUR',
  rates: null,
  createdAtMs: 0,
  fault: 'it is in EUR and billing.currency is USD',
} as const

for (const [format, unavailable] of [
  ['chat', 503],
  ['messages', 529],
] as const) {
  test(`${format}: a request whose price cannot be used is refused, and one of another model is answered`, async () => {
    findPrice = createPriceBook([foreign]).find
    equal(await ask(paths[format], bodyFor(format, {})), unavailable)
    equal(await ask(paths[format], bodyFor(format, { model: 'hal-1.0' })), 200)
    const { organizationId } = service.home
    deepEqual(await recorded(), { counted: [[organizationId, 'overloaded', 1]], rows: ['finished'] })
  })

  test(`${format}: a request without a price is refused where prices are required`, async () => {
    const feed = openTestFeed(service.db, service.clock)
    const log = createLog('silent')
    const book = await openPriceBook({ db: service.db, feed, log, currency: 'USD', isRequired: true })
    findPrice = (...of) => book.find(...of)
    equal(await ask(paths[format], bodyFor(format, {})), 403)
    equal(await ask(paths[format], bodyFor(format, { stream: true })), 403)
    const { organizationId } = service.home
    deepEqual(await recorded(), { counted: [[organizationId, 'permission-denied', 2]], rows: [] })
    book.stop()
    await feed.close()
  })
}

test('a count of tokens that is refused is counted like any other request', async () => {
  equal(await ask(countPath, { model: 'nobody-1.0', messages: [{ role: 'user', content: 'Hello' }] }), 404)
  equal(await ask(countPath, bodyFor('messages' satisfies Format, {})), 200)
  deepEqual(await recorded(), { counted: [[service.home.organizationId, 'model-not-found', 1]], rows: [] })
})

test('refused requests are in the metrics by class', async () => {
  equal(await ask(paths.chat, {}), 400)
  const { text } = await service.metrics.expose()
  equal(text.includes('odyssey_requests_refused_total{class="invalid-request"} 1'), true)
})

test('a storm of wrong requests moves no number of availability, in the ledger or in the metrics', async () => {
  const { db, clock, home, accounts, limits } = service
  const from = clock.nowMs() - (clock.nowMs() % 60_000) - 600_000
  await db.updateTable('organizations').set({ created_at: from }).execute()
  const span = { boot_id: 'boot_1', from_at: from, until_at: from + 3_600_000, ended_by: null }
  const subjects = ['', ...modelIds].map((subject, number) => ({ ...span, number, subject }))
  await db.insertInto('life_spans').values(subjects).execute()
  const good = bodyFor('chat', { max_tokens: 100 })
  equal(await ask(paths.chat, good), 200)
  clock.advance(60_000)
  const question = { organizationId: home.organizationId, month: monthOf(from), currency: 'USD' }
  const measure = () => computeSla(db, question, clock.nowMs())
  const before = await measure()
  clock.advance(-60_000)
  await setBudget(accounts, operator, {
    organizationId: home.organizationId,
    subject: { kind: 'organization', id: home.organizationId },
    period: 'month',
    tokensMax: 1,
  })
  await limits.look()
  const wrong = [
    () => ask(paths.chat, good),
    () => ask(paths.chat, { model: 'clarke-1.0', messages: 'none' }),
    () => ask(paths.messages, bodyFor('messages', { model: 'nobody-1.0' })),
    () => ask(paths.messages, good, 'sk-ody-nobody'),
    () => ask(countPath, bodyFor('messages', { model: 'nobody-1.0' })),
    () => ask('/v1/nothing', {}),
  ]
  const statuses = new Set<number>()
  for (let count = 0; count < 60; count += 1) {
    for (const status of await Promise.all(wrong.map((send) => send()))) statuses.add(status)
  }
  deepEqual(
    [...statuses].toSorted((a, b) => a - b),
    [400, 401, 404, 429],
  )
  await service.refusals.flush()
  clock.advance(60_000)
  deepEqual(await measure(), before)
  const { text } = await service.metrics.expose()
  const counted = [...text.matchAll(/^odyssey_sli_requests_total\{model="([^"]+)",class="([^"]+)"\} ([1-9]\d*)$/gm)]
  deepEqual(
    counted.map(([, ...parts]) => parts),
    [['clarke-1.0', 'good', '1']],
  )
})
