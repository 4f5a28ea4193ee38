// What the pages promise about money and limits, word by word, and a trial of each promise by a service. A sentence that
// is changed is looked for in vain here, and one that is no longer true fails its trial. What each role may do is held
// by roles.test.ts (the page is what is decided) and permissions.test.ts (what is decided is what every route does).

import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import type { FakeStep } from '../../src/engines/fake/fake-engine.ts'
import { GenerationAborted, zeroUsage } from '../../src/core/generation.ts'
import type { BudgetValues, LimitValues } from '../../src/core/limit-fields.ts'
import { openMemoryDatabase } from '../harness/databases/memory-database.ts'
import { setBudget } from '../../src/limits/settings/budget-settings.ts'
import { setLimit } from '../../src/limits/settings/limit-settings.ts'
import { createLog } from '../../src/telemetry/log.ts'
import { createRandom } from '../campaigns/random.ts'
import { onEachDatabase } from '../harness/databases/databases.ts'
import { ledgerRow } from '../harness/databases/ledger-row.ts'
import { startFakeService, type FakeService } from '../harness/fake-service.ts'
import { bodyFor, formats, paths, type Format } from '../harness/http/ask.ts'
import { openManagementService } from '../harness/management-service.ts'
import { microPrices } from '../harness/micro-prices.ts'
import { until } from '../harness/start-service.ts'

const operator = { kind: 'operator' } as const
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')

/** A service that ends with the test, however that ends. */
async function serve(context: TestContext, ...given: Parameters<typeof startFakeService>): Promise<FakeService> {
  const service = await startFakeService(...given)
  context.after(() => service.close())
  return service
}

/** Throws unless a page says this, wherever its lines break. */
function saysOn(page: string, ...sentences: readonly string[]): void {
  const text = oneLine(readFileSync(new URL(`../../docs/operations/${page}`, import.meta.url), 'utf8'))
  for (const sentence of sentences) ok(text.includes(sentence), `docs/operations/${page} no longer says: ${sentence}`)
}

function post(service: FakeService, format: Format, fields: object, signal: AbortSignal | null = null) {
  const headers = { authorization: `Bearer ${service.key}` }
  const body = JSON.stringify(bodyFor(format, { ...fields }))
  return fetch(`${service.address}${paths[format]}`, { method: 'POST', headers, body, signal })
}

async function ask(service: FakeService, format: Format, fields: object = {}) {
  const response = await post(service, format, fields)
  // A stream that fails is cut off.
  const text = await response.text().catch(() => '')
  return { status: response.status, headers: response.headers, text }
}

const rowsOf = ({ db }: FakeService) =>
  db.selectFrom('ledger').select(['outcome', 'output', 'cost_micros']).orderBy('sequence').execute()

async function limit(service: FakeService, values: Partial<LimitValues>): Promise<void> {
  const { organizationId, projectId } = service.home
  const subject = { kind: 'project', id: projectId } as const
  await setLimit(service.accounts, operator, { organizationId, subject, model: '*', ...values })
  await service.limits.look()
}

async function budget(service: FakeService, values: Partial<BudgetValues>): Promise<void> {
  const { organizationId } = service.home
  const subject = { kind: 'organization', id: organizationId } as const
  await setBudget(service.accounts, operator, { organizationId, subject, period: 'month', ...values })
  await service.limits.look()
}

/** Says two words and then does something else. */
const twoWordsAnd = (step: FakeStep): readonly FakeStep[] => [
  { kind: 'block', block: { kind: 'text' }, texts: ['one ', 'two '] },
  step,
]

test('a request that is let in has its one row when its last bytes are read, and a refused one has none', async (context) => {
  saysOn(
    'billing.md',
    'Every request that is let in leaves one row in the ledger before its last bytes leave; one that is refused leaves ' +
      'none and is [counted](#refused-requests).',
  )
  const service = await serve(context, {})
  let letIn = 0
  for (const format of formats) {
    for (const stream of [false, true]) {
      equal((await ask(service, format, { stream })).status, 200)
      letIn += 1
      equal((await rowsOf(service)).length, letIn)
      equal((await ask(service, format, { stream, model: 'nobody-1.0' })).status, 404)
      equal((await ask(service, format, { stream, messages: 'none' })).status, 400)
      equal((await rowsOf(service)).length, letIn)
    }
  }
  await limit(service, { inputTokensPerMinute: 5 })
  for (const format of formats) equal((await ask(service, format)).status, 429)
  equal((await rowsOf(service)).length, letIn)
  await service.refusals.flush()
  const counted = await service.db.selectFrom('refusals').select(['class', 'requests']).execute()
  equal(
    counted.reduce((sum, { requests }) => sum + requests, 0),
    4 * 2 + 2,
  )
})

test('an answer that fails on our side costs nothing, and its tokens are in the row', async (context) => {
  saysOn(
    'billing.md',
    'failed on our side before its answer was made whole, also in writing it as it was made, or was cut off because ' +
      'the service stops (`service-stopping`) | nothing; its tokens are in the row |',
  )
  saysOn('limits.md', "What failed on the service's side costs no money; its tokens count.")
  const script = () => twoWordsAnd({ kind: 'fail', error: new Error('The engine is gone.') })
  const service = await serve(context, { script }, undefined, { prices: microPrices })
  const wanted = 1_000
  // Four requests fit by as many tokens as they fail with, and a fifth does not.
  await budget(service, { tokensMax: wanted + 10 + 3 * 12 })
  for (const format of formats) {
    for (const stream of [false, true]) await ask(service, format, { stream, max_tokens: wanted })
  }
  const rows = await rowsOf(service)
  deepEqual(
    rows.map(({ outcome, output, cost_micros: cost }) => [outcome, output, cost]),
    Array.from({ length: 4 }, () => ['failed', 2, 0]),
  )
  equal((await ask(service, 'chat', { max_tokens: wanted })).status, 429)
})

test('a client that leaves in the midst of an answer, streamed or whole, has status 499 in the log and the metrics', async (context) => {
  saysOn(
    'running.md',
    'Status 499 is a client that left before its answer was complete, or was cut off because it read nothing of it for ' +
      '30 seconds; also where the head of the answer had said 200, or where it closed its own side alone and was told 400.',
  )
  saysOn('metrics.md', '499 where the client left, or stopped reading, before the end')
  const lines: Record<string, unknown>[] = []
  const log = Object.assign(createLog('silent'), { info: (fields: Record<string, unknown>) => lines.push(fields) })
  const script = () => twoWordsAnd({ kind: 'wait-for', event: Promise.withResolvers<void>().promise })
  const service = await serve(context, { script }, undefined, { log })
  for (const format of formats) {
    for (const [index, stream] of [true, false].entries()) {
      await until(() => service.engine.status().running === 0, 'The one before is still made.')
      lines.length = 0
      const client = new AbortController()
      const asking = post(service, format, { stream }, client.signal)
      asking.catch(() => {})
      if (stream) equal((await asking).status, 200)
      await until(() => service.engine.status().running === 1, 'The answer was not begun.')
      client.abort()
      const line = await until(() => lines.find(({ path }) => path === paths[format]), 'There is no line in the log.')
      deepEqual([line['status'], line['broke_off']], [499, 'client-left'])
      const labels = `[^}]*route="${paths[format]}"[^}]*status="499"[^}]*`
      const metric = new RegExp(`odyssey_http_requests_total\\{${labels}\\} ${index + 1}\n`)
      match((await service.metrics.expose()).text, metric)
    }
  }
})

test('a client that leaves while its prompt is counted has status 499 in the log', async (context) => {
  const lines: Record<string, unknown>[] = []
  const log = Object.assign(createLog('silent'), { info: (fields: Record<string, unknown>) => lines.push(fields) })
  const service = await serve(context, {}, undefined, { log })
  const { engine } = service
  const prepare = engine.prepare.bind(engine)
  let counted = 0
  engine.prepare = (request, signal) => {
    counted += 1
    const tokens = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new GenerationAborted(zeroUsage)))
    })
    return { ...prepare(request, signal), tokens }
  }
  const client = new AbortController()
  const path = '/v1/messages/count_tokens'
  const headers = { authorization: `Bearer ${service.key}` }
  const body = JSON.stringify(bodyFor('messages'))
  fetch(`${service.address}${path}`, { method: 'POST', headers, body, signal: client.signal }).catch(() => {})
  await until(() => counted === 1, 'It is not counted.')
  client.abort()
  const line = await until(() => lines.find((each) => each['path'] === path), 'There is no line in the log.')
  deepEqual([line['status'], line['broke_off']], [499, 'client-left'])
})

test('a wait is the same in both formats and in words, too short by a millisecond and long enough when it is over', async (context) => {
  saysOn(
    'limits.md',
    'A refusal is 429 with `retry-after` in seconds, rounded up, below a second also `retry-after-ms`. The wait is the ' +
      'same in both formats and in the words of the error.',
    'after it there is enough, unless others have taken it first',
  )
  const service = await serve(context, {})
  await limit(service, { inputTokensPerMinute: 15 })
  equal((await ask(service, 'chat')).status, 200)
  const refused = await Promise.all(formats.map((format) => ask(service, format)))
  deepEqual(
    refused.map(({ status, headers }) => [status, headers.get('retry-after'), headers.get('x-should-retry')]),
    formats.map(() => [429, '20', 'true']),
  )
  match(refused[0]?.text ?? '', /try again in 20s/)
  service.clock.advance(19_999)
  for (const format of formats) equal((await ask(service, format)).status, 429)
  service.clock.advance(1)
  equal((await ask(service, 'messages')).status, 200)
})

test('no more than twice a limit is let in in the first minute, and no more than the limit on average', async (context) => {
  saysOn(
    'limits.md',
    'So a limit is exact on average and not in every minute: a bucket that was full lets in its whole content at once ' +
      'and refills meanwhile, up to twice the limit in the first minute after a rest.',
  )
  const [perMinute, minutes, tokensEach] = [100, 10, 10]
  const service = await serve(context, {})
  await limit(service, { inputTokensPerMinute: perMinute })
  const letIn: number[] = []
  for (let minute = 0; minute < minutes; minute += 1) {
    let tokens = 0
    for (let second = 0; second < 60; second += 1) {
      if ((await ask(service, formats[second % 2] ?? 'chat')).status === 200) tokens += tokensEach
      service.clock.advance(1_000)
    }
    letIn.push(tokens)
  }
  const all = letIn.reduce((sum, tokens) => sum + tokens, 0)
  ok((letIn[0] ?? 0) <= 2 * perMinute && (letIn[0] ?? 0) > perMinute, `${letIn.join()}`)
  ok(all <= (minutes + 1) * perMinute && all > minutes * perMinute - tokensEach, `${letIn.join()}`)
})

test('requests of any length, as many at once as there may be, never spend more than a budget', async (context) => {
  saysOn(
    'limits.md',
    'A budget is a hard stop: no request begins whose cost at the most does not fit into what is left, so spending ' +
      'exceeds it only where it was set, lowered or un-raised to less than what was spent and under way.',
  )
  const service = await serve(context, {}, undefined, { prices: microPrices })
  const microsMax = 5_000
  await budget(service, { microsMax })
  const random = createRandom(22)
  const statuses: number[] = []
  for (let round = 0; round < 20; round += 1) {
    const asked = Array.from({ length: 20 }, (_, number) => {
      const content = 'word '.repeat(random.integer(1, 60))
      const fields = { max_tokens: random.integer(1, 80), messages: [{ role: 'user', content }] }
      return ask(service, formats[number % 2] ?? 'chat', fields)
    })
    statuses.push(...(await Promise.all(asked)).map(({ status }) => status))
  }
  const spent = (await rowsOf(service)).reduce((sum, row) => sum + (row.cost_micros ?? 0), 0)
  ok(spent <= microsMax, `${spent}`)
  // What is left is less than the least that is worth beginning.
  ok(spent > microsMax - 100, `${spent}`)
  deepEqual(new Set(statuses), new Set([200, 429]))
})

test('nothing is free because a rate was left out, and what has no price has no cost instead of none to pay', async (context) => {
  saysOn(
    'billing.md',
    'a kind of token is free where somebody has said `0`, and never because it was left out. A price without one of ' +
      'them is refused',
    'Without prices Odyssey is free: usage is recorded, and its cost is empty in the ledger, not zero.',
  )
  const rates = { input: 3_000_000, cacheRead: 0, cacheWriteShort: 0, cacheWriteLong: 0, output: 15_000_000 }
  const management = await openManagementService(await openMemoryDatabase())
  context.after(() => management.close())
  const set = (given: object) =>
    management.ask({
      method: 'POST',
      path: '/api/v1/prices',
      key: management.key,
      body: { model: 'hal-1.0', rates: given },
    })
  for (const kind of Object.keys(rates)) {
    const answer = await set(Object.fromEntries(Object.entries(rates).filter(([name]) => name !== kind)))
    equal(answer.status, 400)
    ok(answer.text.includes(`rates.${kind}`) || answer.text.includes(`/rates/${kind}`), answer.text)
  }
  equal((await set(rates)).status, 201)
  const service = await serve(context, {})
  for (const format of formats) await ask(service, format)
  deepEqual(
    (await rowsOf(service)).map((row) => row.cost_micros),
    [null, null],
  )
})

const columns = 'request_id, kind, at, organization_id, project_id, api_key_id, model, outcome, duration_ms'

onEachDatabase(({ open }) => {
  test('the database itself refuses to change a ledger row and to empty the table', async () => {
    saysOn(
      'billing.md',
      'The database itself, SQLite and PostgreSQL alike, refuses to change a ledger row, to put another in its place, and ' +
        'to empty the table.',
    )
    const db = await open()
    await db.insertInto('ledger').values(ledgerRow(1)).execute()
    for (const statement of [
      'update ledger set output = 0',
      'update ledger set sequence = sequence',
      'delete from ledger',
      `insert into ledger (${columns}) select ${columns} from ledger where true on conflict (request_id, kind) do update set at = 0`,
    ]) {
      await rejects(sql.raw(statement).execute(db), /append-only/, statement)
    }
    equal((await db.selectFrom('ledger').selectAll().execute()).length, 1)
    await db.destroy()
  })
})
