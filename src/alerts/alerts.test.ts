import { deepEqual, equal, rejects } from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import { interleave } from '../../test/harness/databases/interleave.ts'
import { ledgerRow } from '../../test/harness/databases/ledger-row.ts'
import { startUpgradingServer } from '../../test/harness/http/upgrading-server.ts'
import { createManualClock, type ManualClock } from '../../test/harness/manual-clock.ts'
import { insertRows } from '../billing/ledger/writer/insert-rows.ts'
import { rollUp } from '../billing/usage/roll-up.ts'
import type { AlertTopic } from '../core/alert-topic.ts'
import { installationChain } from '../db/change.ts'
import type { Database } from '../db/database.ts'
import { createLog } from '../telemetry/log.ts'
import { tellDisk, tellEngines, tellSeldom } from '../service/joins/open-alerts.ts'
import { appendEvents, raise } from './append-event.ts'
import { createChannel, readChannel, removeChannel, testChannel, updateChannel } from './channels.ts'
import { deleteOldEvents, startDelivering, type Deliverer } from './deliver.ts'
import { createReachable } from './private-addresses.ts'
import { createSilence } from './silences.ts'
import { setBudget } from '../limits/settings/budget-settings.ts'
import { tellBudgets, tellRequests, tellHours } from './sources.ts'
import { createPoster, signWebhook } from './webhook.ts'

const operator = { kind: 'operator' } as const
const alertKey = new Uint8Array(32)
const organizationId = 'org_1'

test('a message is signed as the specification of Standard Webhooks shows it', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
  const headers = signWebhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', message, 1_614_265_330_000)
  equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  equal(headers['webhook-timestamp'], '1614265330')
})

describe('where webhooks may go', () => {
  test('only public addresses are reached, and the private ones that the settings name', () => {
    const isReachable = createReachable(['10.1.0.0/16'])
    const open = ['1.1.1.1', '2606:4700::1111', '10.1.2.3']
    const closed = ['127.0.0.1', '10.2.0.1', '172.31.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '0.0.0.0']
    const written = ['::1', '::ffff:127.0.0.1', '::127.0.0.1', 'fd00::1', 'fe80::1%eth0', '64:ff9b::7f00:1', 'ff02::1']
    deepEqual(
      open.filter((address) => !isReachable(address)),
      [],
    )
    deepEqual([...closed, ...written, 'localhost'].filter(isReachable), [])
  })

  test('neither an address nor a name leads inside', async () => {
    const poster = createPoster(createReachable([]))
    const post = (address: string) => {
      const signal = new AbortController().signal
      return poster.post({ url: new URL(address), headers: {}, body: '{}', signal })
    }
    for (const address of ['http://127.0.0.1:1/', 'http://[::1]:1/', 'http://2130706433:1/', 'http://0x7f.1:1/']) {
      await rejects(post(address), /is a private address/)
    }
    await rejects(post('http://localhost:1/'), /is at a private address/)
    poster.close()
  })

  test('a receiver that changes to another protocol has failed, and holds up neither its channel nor the end', async (t) => {
    const receiver = await startUpgradingServer()
    t.after(() => receiver.close())
    const poster = createPoster(createReachable(['127.0.0.1']))
    const { signal } = new AbortController()
    const posting = poster.post({ url: new URL(receiver.address), headers: {}, body: '{}', signal })
    equal(await receiver.endOf(posting), 'Error: It answered 101, which changes to another protocol.')
    poster.close()
  })
})

type Received = { readonly headers: Record<string, unknown>; readonly body: Record<string, any> } // eslint-disable-line typescript/no-explicit-any

onEachDatabase((database) => {
  let db: Database
  let clock: ManualClock
  let deliverer: Deliverer
  let server: Server
  let received: Received[]
  let answer: number
  /** As `answer`, where it depends on what has come. */
  let answerTo: ((body: Received['body']) => number) | null
  beforeEach(async () => {
    db = await database.open()
    clock = createManualClock()
    received = []
    answer = 204
    answerTo = null
    server = createServer((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      request.on('end', () => {
        const message = { headers: request.headers, body: JSON.parse(text) as Record<string, unknown> }
        received.push(message)
        const status = answerTo?.(message.body) ?? answer
        response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    deliverer = start()
  })
  afterEach(async () => {
    await deliverer.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await db.destroy()
  })

  const parts = () => ({ db, clock })
  const start = () => {
    const poster = createPoster(createReachable(['127.0.0.1']))
    return startDelivering({ ...parts(), log: createLog('silent'), alertKey, poster, mail: null })
  }
  const address = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?token=secret`
  const create = (topics: readonly AlertTopic[], of: 'org_1' | 'org_2' | typeof installationChain = organizationId) => {
    const wanted = { organizationId: of, kind: 'webhook', name: 'hook', address: address(), topics } as const
    return createChannel({ ...parts(), alertKey, mail: null }, operator, wanted)
  }
  const tell = (percents: readonly number[]) => {
    const events = percents.map((percent) => ({ topic: 'budget.threshold', data: { percent } }) as const)
    return db.transaction().execute((transaction) => {
      return appendEvents(transaction, clock.nowMs(), { organizationId, events })
    })
  }
  const percents = () => received.map(({ body }) => body['data'].percent as number)

  test('what was asked for arrives signed and in order, and nothing from before the channel was there', async () => {
    await tell([1])
    const { id, secret } = await create(['budget.threshold'])
    await tell([2, 3])
    await raise(parts(), { organizationId, topic: 'audit.broken', cause: 'x', windowMs: null, data: {} })
    await deliverer.deliver()
    deepEqual(percents(), [2, 3])
    const [first] = received
    const {
      'webhook-id': eventId,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    } = first?.headers ?? {}
    equal(first?.body['id'], eventId)
    const message = { id: String(eventId), body: JSON.stringify(first?.body) }
    equal(signature, signWebhook(secret ?? '', message, Number(timestamp) * 1_000)['webhook-signature'])
    const shown = await readChannel(parts(), operator, { organizationId, id })
    deepEqual([shown.target, shown.failures, shown.lastDeliveredAtMs], [new URL(address()).origin, 0, clock.nowMs()])
    const rows = JSON.stringify(await db.selectFrom('audit').selectAll().execute())
    equal(/token=secret|whsec_/.test(rows), false)
  })

  test('after a failure the same event comes first, ever later, and redirects lead nowhere', async () => {
    const { id } = await create(['budget.threshold'])
    await tell([1, 2])
    answer = 302
    await deliverer.deliver()
    await deliverer.deliver()
    deepEqual(percents(), [1])
    for (const pauseMs of [1_000, 2_000, 4_000]) {
      clock.advance(pauseMs)
      await deliverer.deliver()
    }
    deepEqual(percents(), [1, 1, 1, 1])
    const { failures, lastError } = await readChannel(parts(), operator, { organizationId, id })
    deepEqual([failures, lastError], [4, 'The receiver answered 302.'])
    answer = 200
    clock.advance(8_000)
    await deliverer.deliver()
    deepEqual(percents(), [1, 1, 1, 1, 1, 2])
  })

  test('a receiver that answers 410 is asked no more until somebody enables it again', async () => {
    const { id } = await create(['budget.threshold'])
    await tell([1])
    answer = 410
    await deliverer.deliver()
    answer = 200
    clock.advance(3_600_000)
    await deliverer.deliver()
    deepEqual(percents(), [1])
    await updateChannel(parts(), operator, { organizationId, id, isEnabled: true })
    await deliverer.deliver()
    deepEqual(percents(), [1, 1])
  })

  test('an event that a receiver refuses as too large again and again is given up and noted, and the next one arrives', async () => {
    const { id } = await create(['budget.threshold'])
    await tell([1, 2, 3])
    answerTo = (body) => (body['data'].percent === 2 ? 413 : 204)
    for (let attempt = 0; attempt < 12; attempt += 1) {
      await deliverer.deliver()
      clock.advance(3_600_000)
    }
    deepEqual(percents(), [1, ...Array.from({ length: 10 }, () => 2), 3])
    const { givenUp, lastGivenUp, failures } = await readChannel(parts(), operator, { organizationId, id })
    const lost = received.find(({ body }) => body['data'].percent === 2)
    deepEqual([givenUp, lastGivenUp, failures], [1, lost?.body['id'], 0])
  })

  test('two processes deliver an event once, and one takes over what another has left', async () => {
    await create(['budget.threshold'])
    await tell([1, 2, 3])
    const other = start()
    await Promise.all([deliverer.deliver(), other.deliver()])
    deepEqual(percents(), [1, 2, 3])
    await db
      .updateTable('alert_channels')
      .set({ lease_holder: 'dead', lease_until: clock.nowMs() + 30_000 })
      .execute()
    await tell([4])
    await other.deliver()
    equal(received.length, 3)
    clock.advance(30_000)
    await other.deliver()
    await other.close()
    deepEqual(percents(), [1, 2, 3, 4])
  })

  test('one cause is told once within its window, by several processes together', async () => {
    const cause = { organizationId, topic: 'disk.near-full', cause: 'data', windowMs: 1_000, data: {} } as const
    const told = await Promise.all([raise(parts(), cause), raise(parts(), cause), raise(parts(), cause)])
    deepEqual(told.filter(Boolean), [true])
    clock.advance(999)
    equal(await raise(parts(), cause), false)
    clock.advance(1)
    equal(await raise(parts(), cause), true)
    equal(await raise(parts(), { ...cause, cause: 'other' }), true)
    equal((await db.selectFrom('alert_events').select('id').execute()).length, 3)
  })

  test('what happens in a silence is never delivered, and the test button is heard in it', async () => {
    const { id } = await create(['budget.threshold', 'audit.broken'])
    const nowMs = clock.nowMs()
    const silence = {
      organizationId,
      topic: 'budget.threshold',
      fromMs: nowMs,
      untilMs: nowMs + 1_000,
      reason: 'known',
    } as const
    await createSilence(parts(), operator, silence)
    await tell([1])
    await raise(parts(), { organizationId, topic: 'audit.broken', cause: 'x', windowMs: null, data: {} })
    await testChannel(parts(), operator, { organizationId, id })
    clock.advance(1_000)
    await tell([2])
    await deliverer.deliver()
    deepEqual(
      received.map(({ body }) => body['type'] as string),
      ['audit.broken', 'channel.test', 'budget.threshold'],
    )
    deepEqual(percents().at(-1), 2)
  })

  test('what a budget has spent is told once, however often it is looked for', async () => {
    await create(['budget.threshold'])
    const row = {
      budget_id: 'b',
      period_start: 0,
      organization_id: organizationId,
      spent_micros: 5,
      spent_tokens: 7,
    } as const
    const at = clock.nowMs()
    await db
      .insertInto('budget_alerts')
      .values([
        { ...row, percent: 50, at },
        { ...row, percent: 80, at: at + 1 },
      ])
      .execute()
    await tellBudgets({ ...parts(), currency: 'EUR' })
    await tellBudgets({ ...parts(), currency: 'EUR' })
    await deliverer.deliver()
    deepEqual(percents(), [50, 80])
    deepEqual(Object.keys(received[0]?.body['data'] ?? {}), [
      'budgetId',
      'percent',
      'periodStartsAt',
      'reachedAt',
      'spent',
    ])
  })

  test('an alert of a budget says whose it is and how much it has, so that nobody has to ask', async () => {
    await db.insertInto('organizations').values({ id: organizationId, name: 'Acme', created_at: 0 }).execute()
    await create(['budget.threshold'])
    const wanted = { organizationId, subject: { kind: 'organization', id: organizationId }, period: 'month' } as const
    const budget = await setBudget(parts(), operator, { ...wanted, microsMax: 10_000, alertPercents: [80] })
    const at = clock.nowMs()
    const row = { budget_id: budget.id, period_start: 0, organization_id: budget.organizationId, percent: 80, at }
    await db
      .insertInto('budget_alerts')
      .values({ ...row, spent_micros: 8_505, spent_tokens: 7 })
      .execute()
    await tellBudgets({ ...parts(), currency: 'EUR' })
    await deliverer.deliver()
    const { budgetId, subject, period, currency, max, spent } = received[0]?.body['data'] ?? {}
    deepEqual([budgetId, subject, period, currency], [budget.id, wanted.subject, 'month', 'EUR'])
    deepEqual(
      [max, spent],
      [
        { micros: 10_000, tokens: null },
        { micros: 8_505, tokens: 7 },
      ],
    )
  })

  test('each request is told of once, to its own organization, from when the channel was made', async () => {
    const row = (number: number, of: 'org_1' | 'org_2') => ({
      ...ledgerRow(number),
      organization_id: of,
      at: clock.nowMs(),
    })
    await insertRows(db, [row(1, 'org_1')])
    await create(['request.finished', 'usage.hour'])
    for (let index = 0; index < 1_203; index += 401) {
      const rows = Array.from({ length: 401 }, (_, offset) => index + offset)
      await insertRows(
        db,
        rows.map((number) => row(number + 2, number % 2 === 0 ? 'org_1' : 'org_2')),
      )
    }
    await Promise.all([tellRequests(parts()), tellRequests(parts())])
    await tellRequests(parts())
    const events = await db.selectFrom('alert_events').select('data').orderBy('sequence').execute()
    const told = events.map(({ data }) => (JSON.parse(data) as { requestId: string }).requestId)
    deepEqual(
      told,
      Array.from({ length: 602 }, (_, index) => `req_${2 * index + 2}`),
    )
    await rollUp(db)
    clock.advance(2 * 3_600_000)
    await tellHours(parts())
    await tellHours(parts())
    const hours = await db.selectFrom('alert_events').select('data').where('topic', '=', 'usage.hour').execute()
    deepEqual(
      hours.map(({ data }) => (JSON.parse(data) as { requests: number }).requests),
      [603],
    )
  })

  test('the sums of an hour are told again, with the next revision, where rows of it come after they were told', async () => {
    await create(['usage.hour'])
    const beginMs = clock.nowMs() - (clock.nowMs() % 3_600_000) + 3_600_000
    const add = async (number: number, hour: number) => {
      const at = beginMs + hour * 3_600_000
      await insertRows(db, [{ ...ledgerRow(number), organization_id: organizationId, at }])
      await rollUp(db)
    }
    const look = () => Promise.all([tellHours(parts()), tellHours(parts())])
    await add(1, 0)
    await add(2, 1)
    clock.advance(beginMs + 2 * 3_600_000 + 300_000 - clock.nowMs())
    await look()
    await look()
    await add(3, 0)
    await look()
    await add(4, 0)
    await add(5, 0)
    clock.advance(3_600_000)
    await look()
    await look()
    const events = await db.selectFrom('alert_events').select('data').orderBy('sequence').execute()
    const told = events.map(({ data }) => JSON.parse(data) as { hour: string; revision: number; requests: number })
    deepEqual(
      told.map(({ hour, revision, requests }) => [(Date.parse(hour) - beginMs) / 3_600_000, revision, requests]),
      [
        [0, 1, 1],
        [1, 1, 1],
        [0, 2, 2],
        [0, 3, 4],
      ],
    )
  })

  test('requests from before anybody asked for them are told to nobody, whichever channel asks first and however', async () => {
    const finish = (number: number, of: 'org_1' | 'org_2' = organizationId) =>
      insertRows(db, [{ ...ledgerRow(number), organization_id: of, at: clock.nowMs() }])
    const told = async () => {
      await tellRequests(parts())
      const events = await db.selectFrom('alert_events').select('data').orderBy('organization_id').execute()
      return events.map(({ data }) => (JSON.parse(data) as { requestId: string }).requestId).toSorted()
    }
    await create(['budget.threshold'])
    const { id: other } = await create(['budget.threshold'], 'org_2')
    await finish(1)
    await finish(2, 'org_2')
    const { id } = await create(['request.finished'])
    await updateChannel(parts(), operator, { organizationId: 'org_2', id: other, topics: ['request.finished'] })
    await finish(3)
    await finish(4, 'org_2')
    await create(['request.finished'])
    await updateChannel(parts(), operator, { organizationId, id, topics: ['request.finished', 'usage.hour'] })
    deepEqual(await told(), ['req_3', 'req_4'], 'One that asks later than others takes nothing from them.')
    const channels = await db.selectFrom('alert_channels').select('id').where('organization_id', '=', 'org_1').execute()
    for (const channel of channels) await removeChannel(parts(), operator, { organizationId, id: channel.id })
    await finish(5)
    await create(['request.finished'])
    await finish(6)
    deepEqual(await told(), ['req_3', 'req_4', 'req_6'], 'Nobody asked in between.')
  })

  test('a full disk and an engine that is down are told to the installation', async () => {
    await create(['disk.near-full', 'engine.crash-loop'], installationChain)
    await tellDisk(parts(), { folder: '/', percentMax: 0 })
    await tellDisk(parts(), { folder: '/', percentMax: 101 })
    const engine = { model: 'hal-1.0', state: 'down', reason: 'The engine ended.' } as const
    await tellEngines(parts(), [engine, { ...engine, model: 'clarke-1.0', state: 'ready' }])
    await deliverer.deliver()
    deepEqual(
      received.map(({ body }) => body['type'] as string),
      ['disk.near-full', 'engine.crash-loop'],
    )
    equal(received[1]?.body['data'].model, 'hal-1.0')
  })

  test('a rule that cannot look keeps no other one from telling', async () => {
    await create(['engine.crash-loop'], installationChain)
    await db.schema.alterTable('key_networks').renameTo('gone').execute()
    const looks = {
      disk: { folder: '/', percentMax: 101 },
      readEngines: () => [{ model: 'hal-1.0', state: 'down', reason: 'No replica was found by name.' } as const],
    }
    await rejects(tellSeldom(parts(), looks), /key_networks/)
    await deliverer.deliver()
    deepEqual(
      received.map(({ body }) => body['data'] as unknown),
      [{ model: 'hal-1.0', reason: 'No replica was found by name.' }],
    )
  })

  test('a topic that is added to a channel counts from then on: neither what was told before arrives, nor what happened', async () => {
    const { id } = await create(['audit.broken'])
    const change = (topics: readonly AlertTopic[]) => updateChannel(parts(), operator, { organizationId, id, topics })
    const reach = (percent: number) =>
      db
        .insertInto('budget_alerts')
        .values({
          budget_id: 'b',
          period_start: 0,
          percent,
          organization_id: organizationId,
          at: clock.nowMs(),
          spent_micros: 5,
          spent_tokens: 7,
        })
        .execute()
    await tell([1])
    await reach(10)
    clock.advance(60_000)
    await change(['audit.broken', 'budget.threshold'])
    await tell([2])
    await reach(20)
    await tellBudgets({ ...parts(), currency: 'EUR' })
    await change(['budget.threshold', 'usage.hour'])
    await deliverer.deliver()
    deepEqual(percents(), [2, 20])
    await change(['audit.broken'])
    await tell([3])
    await change(['budget.threshold'])
    await tell([4])
    await deliverer.deliver()
    deepEqual(percents(), [2, 20, 4], 'One that is taken away and added again begins again.')
  })

  test('a removed channel is told nothing, and events are kept for a month', async () => {
    const { id } = await create(['budget.threshold'])
    await tell([1])
    await removeChannel(parts(), operator, { organizationId, id })
    await deliverer.deliver()
    deepEqual(percents(), [])
    const { id: later } = await create(['budget.threshold'])
    await db.updateTable('alert_channels').set({ cursor: 0 }).execute()
    clock.advance(30 * 86_400_000)
    await deleteOldEvents(parts())
    equal((await db.selectFrom('alert_events').select('id').execute()).length, 1)
    clock.advance(1)
    await deliverer.close()
    await db.updateTable('alert_channels').set({ cursor: 0 }).execute()
    await deleteOldEvents(parts())
    equal((await db.selectFrom('alert_events').select('id').execute()).length, 0)
    deliverer = start()
    await deliverer.deliver()
    const { cursor } = await db
      .selectFrom('alert_channels')
      .select('cursor')
      .where('id', '=', later)
      .executeTakeFirstOrThrow()
    equal(cursor, 1, 'what is gone is not looked for again')
  })

  test('a channel has an address without a password, and usage goes to webhooks alone', async () => {
    const wanted = { organizationId, kind: 'webhook', name: 'hook', topics: ['request.finished'] } as const
    const make = (fields: object) =>
      createChannel({ ...parts(), alertKey, mail: null }, operator, { ...wanted, address: null, ...fields })
    await rejects(make({ address: 'ftp://example.com/' }), /needs an address/)
    await rejects(make({ address: 'https://me:pass@example.com/' }), /no password/)
    await rejects(make({}), /needs an address/)
    await rejects(make({ kind: 'log' }), /goes to webhooks alone/)
  })

  // SQLite has one writer at a time, so that nobody waits for anybody with something in hand.
  if (database.name !== 'PostgreSQL') return

  test('a channel that asks for requests is made while requests are told, and neither waits for the other for ever', async () => {
    const { id } = await create(['request.finished'])
    await insertRows(db, [{ ...ledgerRow(1), organization_id: organizationId, at: clock.nowMs() }])
    await interleave(
      db,
      ['alert_streams', 'alert_sources'],
      (own) => tellRequests({ ...parts(), db: own }),
      async () => {
        await removeChannel(parts(), operator, { organizationId, id })
        await create(['request.finished'])
      },
    )
    equal((await db.selectFrom('alert_events').select('id').execute()).length, 1)
  })

  test('a channel of the installation is changed while it is removed, and neither waits for the other for ever', async () => {
    const { id } = await create(['disk.near-full'], installationChain)
    const reference = { organizationId: installationChain, id }
    await interleave(
      db,
      ['audit_chains'],
      (own) => updateChannel({ ...parts(), db: own }, operator, { ...reference, name: 'other' }),
      () => removeChannel(parts(), operator, reference),
    )
    await rejects(readChannel(parts(), operator, reference), { code: 'not-found' })
  })
})
