// Gateways that share one PostgreSQL, as many limiters in this process: each has connections,
// leases and timers of its own.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { budgetOf, createTestLimiter, limitOf, principal } from '../../../test/harness/databases/limiter.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { statementsOf } from '../../../test/harness/databases/count-statements.ts'
import { createPostgresDatabase } from '../../../test/harness/databases/shared-postgres.ts'
import { until } from '../../../test/harness/start-service.ts'
import { ApiError } from '../../core/error.ts'
import { picosPerMicro } from '../../core/money.ts'
import { zeroUsage } from '../../core/generation.ts'
import type { Database } from '../../db/database.ts'
import { connectPostgres } from '../../db/open-postgres.ts'
import { systemClock, type Clock } from '../../lib/clock.ts'
import type { LimitBook } from '../limit-book.ts'
import type { Limiter } from '../limiter.ts'
import { leaseMs } from './exchange-lease.ts'
import { createSharedAllowances } from './shared-allowances.ts'
import type { Budget, Limit, Tiers } from '../settings/setting.ts'

let url: string
let drop: () => Promise<void>
before(async () => {
  ;({ url, drop } = await createPostgresDatabase('schema'))
})
after(() => drop())

type Gateway = {
  readonly limiter: Limiter
  readonly book: LimitBook
  readonly db: Database
  /** What the ledger would hold of it. */
  readonly ledger: { spent: number }
  /** Gives its leases back and goes. */
  leave(): Promise<void>
}

type Settings = { readonly limits?: readonly Limit[]; readonly budgets?: readonly Budget[]; readonly tiers?: Tiers }

function openGateways(
  count: number,
  settings: Settings,
  clock: Clock = systemClock,
  wrap: (db: Database) => Database = (db) => db,
  databaseClock: Clock = clock,
): Gateway[] {
  const ledger = { spent: 0 }
  const now = clock === systemClock ? {} : { now: () => sql<number>`${sql.lit(databaseClock.nowMs())}::bigint` }
  return Array.from({ length: count }, () => {
    const db = connectPostgres(url)
    const shared = createSharedAllowances({ db: wrap(db), clock, onError() {}, ...now })
    const readSpent = () => Promise.resolve({ sum: { micros: ledger.spent, tokens: 0 }, upTo: 0 })
    const { limiter, book } = createTestLimiter({ clock, ...settings, parts: { ...shared, readSpent } })
    const leave = async () => {
      await book.close()
      await db.destroy()
    }
    return { limiter, book, db, ledger, leave }
  })
}

const subject = { principal, model: 'hal-1.0', requestId: 'req_1' } as const
const request = (inputTokens: number, outputTokensMax = 0) => ({
  inputTokens,
  outputTokensMax,
  isOutputChosen: true,
  worstCaseMicros: (outputTokens: number) => inputTokens + 5 * outputTokens,
})

/** Asks and settles. Returns how many tokens were admitted; a refusal is none. */
async function ask({ limiter, ledger }: Gateway, input: number, { output = 0, share = 1 } = {}): Promise<number> {
  const admission = await limiter.admit({ ...subject, model: 'clarke-1.0' })
  let usage = zeroUsage
  try {
    const granted = await admission.reserve(request(input, output))
    await sleep(1)
    usage = { ...zeroUsage, inputUncached: input, output: Math.floor(granted * share) }
    return input
  } catch (error) {
    if (error instanceof ApiError && error.code === 'rate-limited') return 0
    throw error
  } finally {
    const costMicros = usage.inputUncached + 5 * usage.output
    ledger.spent += costMicros
    admission.settle({ usage, costPicos: BigInt(costMicros) * picosPerMicro, atMs: systemClock.nowMs() })
  }
}

test('three gateways admit together what the limit says: never more, and no less than 95 % of it', async (context) => {
  const perMinute = 20_000
  const gateways = openGateways(3, { limits: [limitOf({ id: 'limit_bucket', inputTokensPerMinute: perMinute })] })
  const startedMs = performance.now()
  let [served, refused] = [0, 0]
  // A slow machine takes its time to use the limit up; only then it shows what of it can be used.
  const hammer = async (gateway: Gateway, amount: number) => {
    while (refused < 300 && performance.now() - startedMs < 90_000) {
      const admitted = await ask(gateway, amount)
      served += admitted
      if (admitted > 0) continue
      refused += 1
      await sleep(20)
    }
  }
  await Promise.all(
    gateways.flatMap((gateway, index) => Array.from({ length: 8 }, () => hammer(gateway, 20 + 25 * index))),
  )
  const elapsedMs = performance.now() - startedMs
  const allowed = perMinute + Math.ceil((elapsedMs * perMinute) / 60_000)
  context.diagnostic(`${served} of ${allowed} tokens`)
  assert.ok(served <= allowed, `${served} of ${allowed}`)
  assert.ok(served >= allowed * 0.95, `${served} of ${allowed}`)
  for (const gateway of gateways) await gateway.leave()
})

test('a gateway whose shared limit is in debt says how long that takes to be worked off', async () => {
  const clock = createManualClock()
  const limits = [limitOf({ id: 'limit_debt', outputTokensPerMinute: 60 })]
  const [gateway] = openGateways(1, { limits }, clock)
  const open = async () => {
    const admission = await gateway!.limiter.admit({ ...subject, model: 'clarke-1.0' })
    await admission.reserve(request(0, 60))
    return admission
  }
  const admission = await open()
  admission.settle({ usage: { ...zeroUsage, output: 100 }, costPicos: 0n, atMs: clock.nowMs() })
  const refusal = async () => {
    const error: unknown = await open().catch((thrown: unknown) => thrown)
    assert.ok(error instanceof ApiError && error.reason.code === 'rate-limited', String(error))
    return error.reason.retryAfterMs
  }
  assert.equal(await refusal(), 100_000)
  clock.advance(99_000)
  assert.equal(await refusal(), 1_000)
  clock.advance(1_000)
  await open()
  await gateway!.leave()
})

test('answers that grow at several gateways owe together a minute’s allowance and what they make in a second', async () => {
  const clock = createManualClock()
  const perMinute = 12_000
  const gateways = openGateways(
    3,
    { limits: [limitOf({ id: 'limit_grown', outputTokensPerMinute: perMinute })] },
    clock,
  )
  const [perGateway, perSecond, slices] = [2, 400, 2]
  const open = async ({ limiter }: Gateway) => {
    const admission = await limiter.admit(subject)
    await admission.reserve({ ...request(0, 100_000), isOutputChosen: false })
    return { admission, grown: admission.outputSlices().first }
  }
  const answers = await Promise.all(
    gateways.flatMap((gateway) => Array.from({ length: perGateway }, () => open(gateway))),
  )
  const madeInASecond = answers.length * perSecond
  const total = () => answers.reduce((sum, { grown }) => sum + grown, 0)
  /** Every gateway tells what its answers have taken, and hears of the others. */
  const exchangeAll = () => {
    const limits = gateways.flatMap(({ book }) => book.limitsOf(principal, 'hal-1.0'))
    const shared = limits.map(({ allowances }) => allowances.get('output-tokens')).filter((each) => each !== undefined)
    return Promise.all(shared.map((allowance) => allowance.replenish(0)))
  }
  for (let second = 0; second < 150; second += 1) {
    for (const answer of answers) {
      for (let count = 0; count < slices; count += 1) {
        if (answer.admission.growOutput(perSecond / slices) === 0) answer.grown += perSecond / slices
      }
    }
    const most = 2 * perMinute + (second * perMinute) / 60 + madeInASecond
    assert.ok(total() <= most, `${total()} of ${most} after ${second} s`)
    clock.advance(1_000)
    await exchangeAll()
  }
  assert.ok(total() >= 0.95 * (2 * perMinute + (150 * perMinute) / 60), `${total()}`)
  for (const { admission, grown } of answers)
    admission.settle({ usage: { ...zeroUsage, output: grown }, costPicos: 0n, atMs: clock.nowMs() })
  await exchangeAll()
  const error: unknown = await (
    await gateways[0]!.limiter.admit(subject)
  )
    .reserve(request(0, 1))
    .catch((thrown) => thrown)
  assert.ok(error instanceof ApiError && error.reason.code === 'rate-limited', String(error))
  const worstMs = 60_000 + (madeInASecond * 60_000) / perMinute
  assert.ok(error.reason.retryAfterMs <= worstMs, `${error.reason.retryAfterMs}`)
  for (const gateway of gateways) await gateway.leave()
})

test('three gateways spend together what the budget allows: never more, and no less than 95 % of it', async (context) => {
  const gateways = openGateways(3, { budgets: [budgetOf({ id: 'budget_all', microsMax: 100_000 })] })
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      ask(gateways[index % 3]!, 50, { output: 250 }).then(
        () => 'served',
        (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
      ),
    ),
  )
  const { spent } = gateways[0]!.ledger
  context.diagnostic(`${spent} of 100000 micro-units`)
  assert.ok(spent <= 100_000 && spent >= 95_000, `${spent}`)
  assert.deepEqual([...new Set(outcomes)].toSorted(), ['budget-exceeded', 'served'])
  for (const gateway of gateways) await gateway.leave()
  const { level } = await counter('budget_all')
  assert.equal(level, spent)
})

test('with half of the budget free, 200 calls at three gateways are all served', async () => {
  const gateways = openGateways(3, { budgets: [budgetOf({ id: 'budget_half', microsMax: 100_000 })] })
  const calls = Array.from({ length: 200 }, (_, index) => ask(gateways[index % 3]!, 50, { output: 390, share: 0.1 }))
  await Promise.all(calls)
  const { spent } = gateways[0]!.ledger
  assert.equal(spent, 200 * (50 + 5 * 39))
  for (const gateway of gateways) await gateway.leave()
  const { level } = await counter('budget_half')
  assert.equal(level, spent)
})

test('requests under way are counted over all gateways', async () => {
  const gateways = openGateways(2, { limits: [limitOf({ id: 'limit_places', concurrency: 3 })] })
  const admissions = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) => gateways[index % 2]!.limiter.admit({ ...subject, model: 'hal-1.0' })),
  )
  const admitted = admissions.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  assert.equal(admitted.length, 3)
  for (const admission of admitted) admission.settle({ usage: zeroUsage, costPicos: 0n, atMs: 0 })
  for (const gateway of gateways) await gateway.leave()
  assert.deepEqual(await leases('limit_places'), [])
})

for (const { count, concurrency } of [
  { count: 2, concurrency: 1 },
  { count: 12, concurrency: 4 },
]) {
  test(`clients that wait for each answer are never refused by ${count} gateways that share ${concurrency} places`, async () => {
    const limits = [limitOf({ id: `limit_of_${count}`, concurrency })]
    const gateways = openGateways(count, { limits })
    let [underWay, most, asked] = [0, 0, 0]
    const client = async () => {
      for (let count = 0; count < 20; count++) {
        const admission = await gateways[asked++ % gateways.length]!.limiter.admit(subject)
        most = Math.max(most, (underWay += 1))
        await sleep(1)
        underWay -= 1
        admission.settle({ usage: zeroUsage, costPicos: 0n, atMs: 0 })
      }
    }
    const clients = await Promise.allSettled(Array.from({ length: concurrency }, client))
    assert.deepEqual(
      [...new Set(clients.map((each) => (each.status === 'rejected' ? String(each.reason) : 'served')))],
      ['served'],
    )
    assert.ok(most <= concurrency, `${most}`)
    for (const gateway of gateways) await gateway.leave()
    assert.deepEqual(await leases(`limit_of_${count}`), [])
  })
}

test('once a request is settled its place is found by another gateway at the first look', async () => {
  // Time stands still, so nobody looks a second time.
  const limits = [limitOf({ id: 'limit_next', concurrency: 1 })]
  const gateways = openGateways(2, { limits }, createManualClock())
  for (let index = 0; index < 20; index++) {
    const admitting = gateways[index % 2]!.limiter.admit(subject)
    const admission = await Promise.race([admitting, sleep(10_000, null)])
    assert.ok(admission !== null, `request ${index} waits`)
    admission.settle({ usage: zeroUsage, costPicos: 0n, atMs: 0 })
    await admission.returned()
  }
  for (const gateway of gateways) await gateway.leave()
})

test('a place that was asked for is not given back before whoever asked for it has taken it', async () => {
  // Time stands still here too: whoever does not find a place at the first look waits for ever.
  const concurrency = 4
  const limits = [limitOf({ id: 'limit_turns', concurrency })]
  const [gateway] = openGateways(1, { limits }, createManualClock())
  const client = async (number: number) => {
    for (let index = 0; index < 50; index++) {
      const admission = await Promise.race([gateway!.limiter.admit(subject), sleep(10_000, null)])
      if (admission === null) return `client ${number} waits with request ${index}`
      await sleep((index * (number + 1)) % 5)
      admission.settle({ usage: zeroUsage, costPicos: 0n, atMs: 0 })
      // A client takes a moment until it asks again, in which its place is on its way back.
      await setImmediate()
    }
    return 'served'
  }
  const clients = await Promise.all(Array.from({ length: concurrency }, (_, number) => client(number)))
  assert.deepEqual([...new Set(clients)], ['served'])
  await gateway!.leave()
})

test('whoever waits for a place waits longer where the database has been slow of late', async () => {
  const limits = [limitOf({ id: 'limit_slow', concurrency: 1 })]
  const [clock, slowClock] = [createManualClock(), createManualClock()]
  let slowMs = 800
  const slow = (db: Database) =>
    db.withPlugin({
      transformQuery: ({ node }) => node,
      transformResult({ result }) {
        slowClock.advance(slowMs)
        slowMs = 0
        return Promise.resolve(result)
      },
    })
  const [holder] = openGateways(1, { limits }, clock)
  const [waiter] = openGateways(1, { limits }, slowClock, slow, clock)
  const holding = await holder!.limiter.admit(subject)
  const admitting = waiter!.limiter.admit(subject)
  const waitFor = async (ms: number) => {
    for (let waited = 0; waited < ms; waited += 100) {
      await sleep(20)
      slowClock.advance(100)
    }
  }
  await Promise.race([waitFor(1_500), admitting])
  holding.settle({ usage: zeroUsage, costPicos: 0n, atMs: 0 })
  await holding.returned()
  const [admission] = await Promise.all([admitting, waitFor(600)])
  admission.settle({ usage: zeroUsage, costPicos: 0n, atMs: 0 })
  for (const gateway of [holder, waiter]) await gateway!.leave()
})

test('a place that was got for a request which another limit refuses is given back at once', async () => {
  const limits = [
    limitOf({ id: 'limit_wide', concurrency: 1 }),
    limitOf({ id: 'limit_narrow', model: 'clarke-1.0', concurrency: 1 }),
  ]
  const [first, second] = openGateways(2, { limits: [limits[1]!] })
  const [third, fourth] = openGateways(2, { limits })
  const holding = await first!.limiter.admit({ ...subject, model: 'clarke-1.0' })
  await assert.rejects(third!.limiter.admit({ ...subject, model: 'clarke-1.0' }))
  await until(async () => (await leases('limit_wide')).length === 0, 'It kept the place.', 900)
  await fourth!.limiter.admit(subject)
  holding.settle({ usage: zeroUsage, costPicos: 0n, atMs: 0 })
  for (const gateway of [first, second, third, fourth]) await gateway!.leave()
})

test('the lease of a gateway that vanished goes back, less what the ledger says it has spent', async () => {
  const clock = createManualClock()
  const [dead, alive] = openGateways(2, { budgets: [budgetOf({ id: 'budget_dead', microsMax: 10_000 })] }, clock)
  const admission = await dead!.limiter.admit({ ...subject, model: 'hal-1.0' })
  await admission.reserve(request(9_000))
  await dead!.db.destroy()
  dead!.ledger.spent = 4_000
  const refused = await alive!.limiter.admit({ ...subject, model: 'hal-1.0' })
  const early = refused.reserve(request(2_000))
  assert.equal(await Promise.race([early.then(() => 'reserved'), sleep(300, 'waits')]), 'waits')
  // It goes on asking all the time, and only so it can tell that the other one has vanished. A question that is still under
  // way stands for the one that would be asked now; it may end only after the clock was moved on, which has to go on then.
  const asksAgain = async () => {
    if ((await counter('budget_dead')).at >= clock.nowMs() - 1_000) return true
    clock.advance(20)
    return false
  }
  for (let elapsedMs = 0; elapsedMs <= leaseMs + 1_000; elapsedMs += 1_000) {
    clock.advance(1_000)
    await until(asksAgain, 'It did not ask again.')
  }
  await early
  const { level } = await counter('budget_dead')
  assert.equal(level, 4_000)
  const most = await alive!.limiter.admit({ ...subject, model: 'hal-1.0' })
  await most.reserve(request(4_000))
  await alive!.leave()
})

test('spending while the database was away is neither forgotten nor counted twice', async () => {
  const settings = { budgets: [budgetOf({ id: 'budget_away', microsMax: 10_000 })] }
  const [firstClock, secondClock] = [createManualClock(), createManualClock()]
  const [first] = openGateways(1, settings, firstClock)
  const [second] = openGateways(1, settings, secondClock)
  const spending = await first!.limiter.admit({ ...subject, model: 'hal-1.0' })
  await spending.reserve(request(3_000))
  // The database has been away for a minute. The second gateway is back before the first one, whose rows are on its disk.
  secondClock.advance(60_000)
  const early = await second!.limiter.admit({ ...subject, model: 'hal-1.0' })
  const reserving = early.reserve(request(8_000))
  assert.equal(await Promise.race([reserving.then(() => 'reserved'), sleep(300, 'waits')]), 'waits')
  firstClock.advance(60_000)
  spending.settle({ usage: zeroUsage, costPicos: 3_000n * picosPerMicro, atMs: firstClock.nowMs() })
  first!.ledger.spent = second!.ledger.spent = 3_000
  const isTold = async () => {
    firstClock.advance(1_000)
    return (await counter('budget_away')).level === 3_000
  }
  await until(isTold, 'It did not tell what it had spent.')
  const refused = assert.rejects(reserving, (error) => error instanceof ApiError && error.code === 'budget-exceeded')
  secondClock.advance(250)
  await refused
  const rest = await second!.limiter.admit({ ...subject, model: 'hal-1.0' })
  await rest.reserve(request(7_000))
  assert.equal((await counter('budget_away')).level, 3_000)
  await first!.leave()
  await second!.leave()
})

test('a database that hangs keeps a request waiting only for some seconds, and the next ones not at all', async () => {
  const clock = createManualClock()
  const answering = Promise.withResolvers<void>()
  const limits = [limitOf({ id: 'limit_hangs', inputTokensPerMinute: 1_000 })]
  const [gateway] = openGateways(1, { limits }, clock, (db) => answerAfter(db, answering.promise))
  const reserve = async () => (await gateway!.limiter.admit({ ...subject, model: 'hal-1.0' })).reserve(request(10))
  const isUnavailable = (error: unknown) => error instanceof ApiError && error.code === 'overloaded'
  const first = reserve()
  const second = reserve()
  const refused = Promise.all([assert.rejects(first, isUnavailable), assert.rejects(second, isUnavailable)])
  await setImmediate()
  clock.advance(5_000)
  await refused
  const third = assert.rejects(reserve(), isUnavailable)
  await setImmediate()
  clock.advance(0)
  await third
  answering.resolve()
  // Those who gave up are expected back: it holds enough for more than the one it had asked for.
  const held = async () => (await leases('limit_hangs')).reduce((sum, { amount }) => sum + amount, 0)
  await until(async () => (await held()) >= 20, 'Nothing was taken for those who gave up.')
  await reserve()
  await gateway!.leave()
})

test('without the database a gateway gives out what it holds, and then says that it cannot tell', async () => {
  const clock = createManualClock()
  const [gateway] = openGateways(1, { limits: [limitOf({ id: 'limit_down', inputTokensPerMinute: 1_000 })] }, clock)
  const reserve = async () => (await gateway!.limiter.admit({ ...subject, model: 'hal-1.0' })).reserve(request(10))
  await reserve()
  // The second time as much again is taken ahead.
  await reserve()
  await gateway!.db.destroy()
  await reserve()
  await assert.rejects(reserve(), (error) => error instanceof ApiError && error.code === 'overloaded')
})

test('a lease that has run out is not used any more', async () => {
  const clock = createManualClock()
  const [gateway] = openGateways(1, { limits: [limitOf({ id: 'limit_late', inputTokensPerMinute: 1_000 })] }, clock)
  const reserve = async () => (await gateway!.limiter.admit({ ...subject, model: 'hal-1.0' })).reserve(request(10))
  await reserve()
  await reserve()
  await gateway!.db.destroy()
  clock.advance(leaseMs)
  await assert.rejects(reserve(), (error) => error instanceof ApiError && error.code === 'overloaded')
})

test('a request needs no round trip while its gateway holds enough', async () => {
  const settings = { limits: [limitOf({ id: 'limit_trips', inputTokensPerMinute: 1_000_000 })] }
  // However long these take here, no time passes after which a lease is renewed in any case.
  const [gateway] = openGateways(1, settings, createManualClock(Date.now()))
  const asked = await statementsOf(async () => {
    for (let count = 0; count < 400; count++) await ask(gateway!, 10)
  })
  const exchanges = asked.filter((statement) => statement.startsWith('update "limit_counters"'))
  assert.ok(exchanges.length > 0 && exchanges.length < 40, `${exchanges.length} exchanges`)
  await gateway!.leave()
})

test('gateways share the limits of a tier, and ask no database for those that refuse nothing', async () => {
  const values = { outputTokensPerMinute: null, requestsPerMinute: null, isRequestsEnforced: false, concurrency: null }
  const limit = { ...values, model: 'clarke-1.0', inputTokensPerMinute: 100, cachedReadPercent: 10 } as const
  for (const [tier, admitted] of [
    ['tier-1', [60, 0, 40]],
    ['internal', [60, 60, 40]],
  ] as const) {
    const tiers = { limits: [{ ...limit, tier }], tierOf: new Map([[principal.organizationId, tier]]) }
    const gateways = openGateways(2, { tiers }, createManualClock())
    const [first, second] = gateways
    assert.deepEqual([await ask(first!, 60), await ask(second!, 60), await ask(second!, 40)], admitted)
    for (const gateway of gateways) await gateway.leave()
  }
  const db = connectPostgres(url)
  const counters = await db
    .selectFrom('limit_counters')
    .select('id')
    .where('id', 'like', `%org_1_clarke-1.0%`)
    .execute()
  assert.deepEqual(counters, [{ id: 'tier_org_1_clarke-1.0:input-tokens' }])
  await db.destroy()
})

test('counters that were not used for longer than a month are removed', async () => {
  const db = connectPostgres(url)
  const shared = createSharedAllowances({ db, clock: systemClock, onError() {} })
  const dayMs = 24 * 3_600_000
  const atOf = (days: number) => systemClock.nowMs() - days * dayMs
  const values = [41, 39].map((days) => ({ id: `old_${days}`, level: 0, at: atOf(days) }))
  await db.insertInto('limit_counters').values(values).execute()
  await shared.removeOld()
  const left = await db.selectFrom('limit_counters').select('id').where('id', 'like', 'old_%').execute()
  assert.deepEqual(left, [{ id: 'old_39' }])
  await db.destroy()
})

/** Nothing that the database is asked is answered before that. */
function answerAfter(db: Database, answering: Promise<void>): Database {
  return db.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      await answering
      return result
    },
  })
}

async function counter(id: string) {
  const db = connectPostgres(url)
  try {
    return await db.selectFrom('limit_counters').selectAll().where('id', 'like', `${id}:%`).executeTakeFirstOrThrow()
  } finally {
    await db.destroy()
  }
}

async function leases(id: string) {
  const db = connectPostgres(url)
  try {
    return await db.selectFrom('limit_leases').selectAll().where('counter_id', 'like', `${id}:%`).execute()
  } finally {
    await db.destroy()
  }
}

test('at midnight one gateway cannot lease what another one’s requests have reserved', async () => {
  const midnight = Date.UTC(2027, 0, 16)
  const clock = createManualClock(midnight - 1_000)
  const gateways = openGateways(3, { budgets: [budgetOf({ id: 'budget_midnight', microsMax: 10_000 })] }, clock)
  const [early, late] = await Promise.all(gateways.slice(0, 2).map(({ limiter }) => limiter.admit(subject)))
  await early!.reserve(request(4_000))
  await late!.reserve(request(3_000))
  clock.advance(1_000)
  // Two of the gateways have not noticed yet that it is another day.
  const next = await gateways[2]!.limiter.admit(subject)
  const reserving = next.reserve(request(4_000))
  assert.equal(await Promise.race([reserving.then(() => 'reserved'), sleep(300, 'waits')]), 'waits')
  const usage = { ...zeroUsage, inputUncached: 4_000 }
  early!.settle({ usage, costPicos: 4_000n * picosPerMicro, atMs: midnight - 1 })
  const isReserved = reserving.then(() => true)
  const moves = async () => {
    clock.advance(250)
    return Promise.race([isReserved, sleep(20, false)])
  }
  await until(moves, 'What was given back could not be reserved.')
  const [reserved] = await Promise.all([next].map(() => heldOf('budget_midnight', midnight)))
  assert.ok(reserved! <= 10_000, `${reserved}`)
  for (const gateway of gateways) await gateway.leave()
})

test('a gateway whose clock is ahead leases nothing of a day that has not begun', async () => {
  const midnight = Date.UTC(2027, 0, 16)
  const [ahead, database] = [createManualClock(midnight + 500), createManualClock(midnight - 500)]
  const settings = { budgets: [budgetOf({ id: 'budget_ahead', microsMax: 10_000 })] }
  const [gateway] = openGateways(1, settings, ahead, (db) => db, database)
  const admission = await gateway!.limiter.admit(subject)
  const reserving = admission.reserve(request(4_000))
  assert.equal(await Promise.race([reserving.then(() => 'reserved'), sleep(300, 'waits')]), 'waits')
  database.advance(500)
  const isReserved = reserving.then(() => true)
  const moves = async () => {
    ahead.advance(250)
    return Promise.race([isReserved, sleep(20, false)])
  }
  await until(moves, 'What the new day has could not be reserved.')
  await gateway!.leave()
})

async function heldOf(id: string, periodStartMs: number): Promise<number> {
  const held = (await leases(id)).filter(({ counter_id: counterId }) => counterId.endsWith(String(periodStartMs)))
  return held.reduce((sum, { amount }) => sum + amount, 0)
}
