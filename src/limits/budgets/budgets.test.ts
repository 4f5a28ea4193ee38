import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import fc from 'fast-check'
import { budgetOf, createTestLimiter, noTiers, principal } from '../../../test/harness/databases/limiter.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { ApiError } from '../../core/error.ts'
import { picosPerMicro } from '../../core/money.ts'
import { zeroUsage } from '../../core/generation.ts'
import type { RequestId } from '../../core/ids.ts'
import type { Admission } from '../open-admission.ts'
import type { BudgetParts } from './budget-account.ts'
import type { Amounts } from './amounts.ts'
import type { Budget } from '../settings/setting.ts'

const subject = { principal, model: 'clarke-1.0', requestId: 'req_1' } as const
/** A prompt token costs 1 micro-unit, one of the answer 5. */
const requestOf = (inputTokens: number, outputTokensMax: number) => ({
  inputTokens,
  outputTokensMax,
  isOutputChosen: true,
  worstCaseMicros: (outputTokens: number) => inputTokens + 5 * outputTokens,
})

function open(budgets: readonly Partial<Budget>[], parts: Partial<BudgetParts> = {}, startMs?: number) {
  const clock = createManualClock(startMs)
  const settings = budgets.map((budget, index) => budgetOf({ id: `budget_${index}`, ...budget }))
  const opened = createTestLimiter({ clock, budgets: settings, parts })
  const spent = () => {
    const claims = opened.book.budgetsOf(principal).flatMap((account) => account.claims())
    return claims.map(({ allowance }) => [allowance.spent, allowance.reserved])
  }
  const settle = (admission: Admission, input: number, output: number) =>
    admission.settle({
      usage: { ...zeroUsage, inputUncached: input, output },
      costPicos: BigInt(input + 5 * output) * picosPerMicro,
      atMs: clock.nowMs(),
    })
  return { clock, spent, settle, ...opened }
}

const hasCode = (code: string) => (error: unknown) => error instanceof ApiError && error.code === code

/** What has become of a promise after everything that is under way had its turn. */
async function stateOf(promise: Promise<unknown>): Promise<'waits' | 'resolved' | 'rejected'> {
  for (let round = 0; round < 20; round++) await turn()
  const settled = promise.then(
    () => 'resolved' as const,
    () => 'rejected' as const,
  )
  return Promise.race([settled, turn('waits' as const)])
}

test('the worst case is reserved and what was really spent is settled', async () => {
  const { limiter, book, spent, settle } = open([{ microsMax: 100_000, tokensMax: 50_000 }])
  const admission = await limiter.admit(subject)
  assert.equal(await admission.reserve(requestOf(1_000, 2_000)), 2_000)
  assert.deepEqual(spent(), [
    [0, 11_000],
    [0, 3_000],
  ])
  assert.deepEqual(book.reservedOf('budget_0'), { micros: 11_000, tokens: 3_000 })
  settle(admission, 1_000, 100)
  settle(admission, 1_000, 100)
  assert.deepEqual(spent(), [
    [1_500, 0],
    [1_100, 0],
  ])
})

test('200 calls at once on a budget of 0.10 that is twice what they need: none refused, none beyond it', async () => {
  const { limiter, spent, settle, clock } = open([{ microsMax: 100_000 }])
  let [most, running, together] = [0, 0, 0]
  const ends: (() => void)[] = []
  const call = async () => {
    const admission = await limiter.admit(subject)
    // The worst case of one is a fiftieth of the budget, and what it will really cost a tenth of that.
    const granted = await admission.reserve(requestOf(50, 390))
    assert.equal(granted, 390)
    together = Math.max(together, (running += 1))
    await new Promise<void>((resolve) => ends.push(resolve))
    running -= 1
    settle(admission, 50, 40)
    const [[sum = 0, reserved = 0] = []] = spent()
    most = Math.max(most, sum + reserved)
  }
  const calls = Array.from({ length: 200 }, call)
  const over = Promise.all(calls)
  while ((await stateOf(over)) === 'waits') {
    ends.shift()?.()
    clock.advance(20)
  }
  await over
  assert.deepEqual(spent(), [[200 * 250, 0]])
  assert.ok(most <= 100_000, `${most}`)
  assert.ok(together >= 49, `${together}`)
})

test('200 calls at once whose worst case is several budgets: none beyond it, none refused while half of it is free', async () => {
  const { limiter, spent, settle, clock } = open([{ microsMax: 100_000 }])
  const ends: (() => void)[] = []
  const call = async () => {
    const admission = await limiter.admit(subject)
    const granted = await admission.reserve(requestOf(50, 64_000))
    assert.ok(granted >= 1_024, `${granted}`)
    await new Promise<void>((resolve) => ends.push(resolve))
    settle(admission, 50, 40)
  }
  const over = Promise.all(Array.from({ length: 200 }, call))
  while ((await stateOf(over)) === 'waits') {
    for (const end of ends.splice(0)) end()
    clock.advance(20)
  }
  await over
  assert.deepEqual(spent(), [[200 * 250, 0]])
})

test('calls that spend all they may never spend more than the budget, and the rest is refused', async () => {
  const { limiter, spent, settle, clock } = open([{ microsMax: 100_000 }])
  const outcomes: string[] = []
  const ends: (() => void)[] = []
  const call = async () => {
    const admission = await limiter.admit(subject)
    try {
      const granted = await admission.reserve(requestOf(50, 2_000))
      await new Promise<void>((resolve) => ends.push(resolve))
      settle(admission, 50, granted)
      outcomes.push('served')
    } catch (error) {
      settle(admission, 0, 0)
      outcomes.push(error instanceof ApiError ? error.code : String(error))
    }
  }
  const over = Promise.all(Array.from({ length: 200 }, call))
  while ((await stateOf(over)) === 'waits') {
    for (const end of ends.splice(0)) end()
    clock.advance(20)
  }
  const [[sum = 0, reserved = 0] = []] = spent()
  assert.ok(sum <= 100_000 && sum > 94_000, `${sum}`)
  assert.equal(reserved, 0)
  assert.deepEqual([...new Set(outcomes)].toSorted(), ['budget-exceeded', 'served'])
})

test('an answer gets as much as is left when its worst case is more', async () => {
  const { limiter, settle, spent } = open([{ microsMax: 10_000 }])
  const admission = await limiter.admit(subject)
  const granted = await admission.reserve(requestOf(1_000, 64_000))
  assert.equal(granted, 1_800)
  settle(admission, 1_000, granted)
  assert.deepEqual(spent(), [[10_000, 0]])
  await assert.rejects((await limiter.admit(subject)).reserve(requestOf(1, 0)), hasCode('budget-exceeded'))
})

test('a request whose budget leaves no useful answer is refused, unless it asked for so little', async () => {
  const { limiter } = open([{ tokensMax: 1_000 }])
  await assert.rejects((await limiter.admit(subject)).reserve(requestOf(500, 64_000)), hasCode('budget-exceeded'))
  assert.equal(await (await limiter.admit(subject)).reserve(requestOf(500, 400)), 400)
})

test('those who wait go in their order, and whoever leaves is forgotten', async () => {
  const { limiter, settle } = open([{ microsMax: 11_000 }])
  const admissions = await Promise.all(Array.from({ length: 4 }, () => limiter.admit(subject)))
  const [first, second, third, fourth] = admissions.map((admission) => ({
    admission,
    reserved: admission.reserve(requestOf(1_000, 1_900)),
  }))
  assert.ok(first && second && third && fourth)
  for (const { reserved } of [second, third, fourth]) reserved.catch(() => {})
  assert.equal(await stateOf(first.reserved), 'resolved')
  assert.equal(await stateOf(second.reserved), 'waits')
  settle(second.admission, 0, 0)
  assert.equal(await stateOf(second.reserved), 'rejected')
  settle(first.admission, 0, 0)
  assert.equal(await stateOf(third.reserved), 'resolved')
  assert.equal(await stateOf(fourth.reserved), 'waits')
  settle(third.admission, 0, 0)
  assert.equal(await stateOf(fourth.reserved), 'resolved')
})

test('a request waits for money for a minute at most', async () => {
  const { limiter, clock } = open([{ microsMax: 11_000 }])
  await (await limiter.admit(subject)).reserve(requestOf(1_000, 2_000))
  const waiting = (await limiter.admit(subject)).reserve(requestOf(1_000, 1_900))
  waiting.catch(() => {})
  assert.equal(await stateOf(waiting), 'waits')
  clock.advance(60_000)
  await assert.rejects(waiting, hasCode('rate-limited'))
})

test('the strictest of several budgets decides, and a refusal takes nothing of the others', async () => {
  const { limiter, spent } = open([
    { microsMax: 1_000_000, period: 'month' },
    { microsMax: 500, subject: { kind: 'project', id: 'proj_1' } },
    { tokensMax: 100, subject: { kind: 'api-key', id: 'key_2' } },
  ])
  await assert.rejects((await limiter.admit(subject)).reserve(requestOf(400, 30)), hasCode('budget-exceeded'))
  assert.deepEqual(spent(), [
    [0, 0],
    [0, 0],
  ])
})

test('spending in the ledger counts against the budget, also after a restart', async () => {
  const asked: unknown[] = []
  const readSpent: BudgetParts['readSpent'] = async (place, range) => {
    asked.push([place.subject.id, new Date(range.fromMs).toISOString(), new Date(range.beforeMs).toISOString()])
    return { sum: { micros: 99_000, tokens: 0 }, upTo: 0 }
  }
  const at = Date.UTC(2026, 10, 21, 12)
  const { limiter, spent } = open([{ microsMax: 100_000, period: 'month' }], { readSpent }, at)
  await assert.rejects((await limiter.admit(subject)).reserve(requestOf(1_001, 0)), hasCode('budget-exceeded'))
  await (await limiter.admit(subject)).reserve(requestOf(1_000, 0))
  assert.deepEqual(asked, [['org_1', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z']])
  assert.deepEqual(spent(), [[99_000, 1_000]])
})

test('while the ledger cannot be read nothing is spent, and nobody is refused for good', async () => {
  let isDown = true
  const readSpent = () =>
    isDown ? Promise.reject(new Error('no database')) : Promise.resolve({ sum: { micros: 0, tokens: 0 }, upTo: 0 })
  const { limiter } = open([{ microsMax: 100_000 }], { readSpent })
  await assert.rejects((await limiter.admit(subject)).reserve(requestOf(1, 1)), hasCode('overloaded'))
  isDown = false
  await (await limiter.admit(subject)).reserve(requestOf(1, 1))
})

test('at midnight what is spent is forgotten and what is reserved goes over to the new day', async () => {
  const { limiter, clock, spent, settle } = open([{ microsMax: 100_000 }], {}, Date.UTC(2026, 1, 28, 23, 59, 59, 900))
  const [early, late] = [await limiter.admit(subject), await limiter.admit(subject)]
  await early.reserve(requestOf(1_000, 1_000))
  await late.reserve(requestOf(1_000, 1_000))
  settle(early, 1_000, 0)
  assert.deepEqual(spent(), [[1_000, 6_000]])
  clock.advance(200)
  assert.deepEqual(spent(), [[0, 6_000]])
  settle(late, 1_000, 10)
  assert.deepEqual(spent(), [[1_050, 0]])
})

test('a row of the day before is not paid for by the new day', async () => {
  const { limiter, clock, spent } = open([{ microsMax: 100_000 }], {}, Date.UTC(2026, 11, 31, 23, 59, 59, 999))
  const admission = await limiter.admit(subject)
  await admission.reserve(requestOf(1_000, 0))
  const atMs = clock.nowMs()
  clock.advance(1)
  admission.settle({ usage: zeroUsage, costPicos: 500n * picosPerMicro, atMs })
  assert.deepEqual(spent(), [[0, 0]])
})

test('the alert comes once in a period, and again in the next', async () => {
  const alerts: Amounts[] = []
  const { limiter, clock, settle } = open([{ microsMax: 1_000, alertPercents: [80] }], {
    alert: (_budget, _start, readSpent) => void readSpent().then((spent) => alerts.push(spent)),
  })
  const spend = async (micros: number) => {
    const admission = await limiter.admit(subject)
    await admission.reserve(requestOf(micros, 0))
    settle(admission, micros, 0)
    await turn()
  }
  await spend(799)
  assert.equal(alerts.length, 0)
  await spend(1)
  await spend(50)
  assert.deepEqual(alerts, [{ micros: 800, tokens: 800 }])
  clock.advance(24 * 3_600_000)
  await spend(900)
  assert.equal(alerts.length, 2)
})

test('tiny costs are spent of a budget in full: none of them is free, and none counts as a whole micro-unit', async () => {
  const { limiter, clock, spent } = open([{ microsMax: 100 }])
  let answered = 0
  for (let count = 0; count < 400; count += 1) {
    const admission = await limiter.admit(subject)
    const isRefused = await admission.reserve(requestOf(1, 0)).then(
      () => false,
      (error: unknown) => hasCode('budget-exceeded')(error),
    )
    answered += isRefused ? 0 : 1
    admission.settle({ usage: zeroUsage, costPicos: isRefused ? 0n : 300_000n, atMs: clock.nowMs() })
  }
  // 331 come to 99.3 micro-units; one more could cost a whole one.
  assert.equal(answered, 331)
  assert.deepEqual(spent(), [[100, 0]])
})

test('a budget that is set while requests are under way pays for them too; one that is raised lets those in who wait', async () => {
  const { limiter, book, settle, spent } = open([])
  const admission = await limiter.admit(subject)
  await admission.reserve(requestOf(600, 0))
  book.update({ limits: [], budgets: [budgetOf({ microsMax: 1_000 })], tiers: noTiers })
  // The first look at it reads the ledger, in which the request is not yet.
  await (await limiter.admit(subject)).reserve(requestOf(1, 0))
  settle(admission, 600, 0)
  await assert.rejects((await limiter.admit(subject)).reserve(requestOf(500, 0)), hasCode('budget-exceeded'))
  book.update({ limits: [], budgets: [budgetOf({ microsMax: 2_000 })], tiers: noTiers })
  const last = await limiter.admit(subject)
  await last.reserve(requestOf(500, 0))
  book.update({ limits: [], budgets: [budgetOf({ tokensMax: 6_000 })], tiers: noTiers })
  await (await limiter.admit(subject)).reserve(requestOf(4_000, 0))
  // The second request is still under way, and has reserved one. What is no longer limited is counted all the same.
  assert.deepEqual(spent(), [
    [600, 4_501],
    [600, 4_501],
  ])
  settle(last, 500, 0)
  assert.deepEqual(spent(), [
    [1_100, 4_001],
    [1_100, 4_001],
  ])
})

test('a request that ends between the setting of a budget and its first use is counted once', async () => {
  const ledger = createLedgerOf()
  const { limiter, book, settle, spent } = open([], { readSpent: ledger.readSpent })
  const admission = await limiter.admit(subject)
  await admission.reserve(requestOf(600, 0))
  book.update({ limits: [], budgets: [budgetOf({ microsMax: 1_000 })], tiers: noTiers })
  ledger.rows.push({ id: subject.requestId, micros: 600 })
  settle(admission, 600, 0)
  await (await limiter.admit({ ...subject, requestId: 'req_2' })).reserve(requestOf(300, 0))
  assert.deepEqual(spent(), [[600, 300]])
})

test('a request whose row is written while the ledger is read for a new budget is counted once', async () => {
  const ledger = createLedgerOf()
  const reading = Promise.withResolvers<void>()
  const readSpent: BudgetParts['readSpent'] = async (...of) => {
    const read = await ledger.readSpent(...of)
    await reading.promise
    return read
  }
  const { limiter, book, settle, spent } = open([], { readSpent })
  const admission = await limiter.admit(subject)
  await admission.reserve(requestOf(600, 0))
  book.update({ limits: [], budgets: [budgetOf({ microsMax: 1_000 })], tiers: noTiers })
  ledger.rows.push({ id: subject.requestId, micros: 600 })
  const next = (await limiter.admit({ ...subject, requestId: 'req_2' })).reserve(requestOf(300, 0))
  await turn()
  settle(admission, 600, 0)
  reading.resolve()
  await next
  assert.deepEqual(spent(), [[600, 300]])
})

/** A ledger whose rows are of the day that it is. */
function createLedgerOf() {
  const rows: { readonly id: RequestId; readonly micros: number }[] = []
  const readSpent: BudgetParts['readSpent'] = (_subject, _range, without) => {
    const summed = rows.filter(({ id }) => !without.includes(id))
    const micros = summed.reduce((sum, row) => sum + row.micros, 0)
    return Promise.resolve({ sum: { micros, tokens: 0 }, upTo: rows.length })
  }
  return { rows, readSpent }
}

type Step =
  | { readonly kind: 'ask'; readonly input: number; readonly output: number }
  | { readonly kind: 'settle' | 'abort'; readonly which: number; readonly share: number }
  | { readonly kind: 'wait'; readonly ms: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('ask' as const), input: fc.nat(900), output: fc.nat(3_000) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('settle' as const, 'abort' as const),
      which: fc.nat(50),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(40_000) }) },
)

test('whatever happens in whatever order, no budget is exceeded and nothing stays reserved', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(60_000), fc.nat(20_000), fc.array(step, { size: 'max', maxLength: 50 }), async (...of) => {
      const [microsMax, tokensMax, steps] = of
      const { limiter, clock, spent, settle } = open([{ microsMax }, { tokensMax, period: 'month' }])
      const running: { admission: Admission; input: number; granted: number | null }[] = []
      const later: (() => void)[] = []
      const sums = { micros: 0, tokens: 0 }
      const end = ({ admission, input, granted }: (typeof running)[number], share: number) => {
        const [prompt, output] = granted === null ? [0, 0] : [input, Math.floor(granted * share)]
        sums.micros += prompt + 5 * output
        sums.tokens += prompt + output
        settle(admission, prompt, output)
      }
      for (const now of steps) {
        if (now.kind === 'wait') clock.advance(now.ms)
        if (now.kind === 'ask') {
          const request: (typeof running)[number] = {
            admission: await limiter.admit(subject),
            input: now.input,
            granted: null,
          }
          running.push(request)
          const keep = (granted: number) => void (request.granted = granted)
          // Odd prompts try to reserve optimistically, and every other one of these turns out as long as it may be.
          const most = requestOf(now.input + (now.input % 4 === 1 ? 3_000 : 0), now.output)
          const ahead = now.input % 2 === 1 ? request.admission.reserveOptimistically(most) : null
          if (ahead === null) {
            request.admission.reserve(requestOf(now.input, now.output)).then(keep, () => {})
          } else {
            keep(ahead)
            later.push(() => request.admission.counted(requestOf(now.input, now.output)))
          }
        }
        if (now.kind === 'settle' || now.kind === 'abort') {
          const [request] = running.splice(now.which % Math.max(1, running.length), 1)
          if (request !== undefined) end(request, now.kind === 'abort' ? 0 : now.share)
        }
        for (let round = 0; round < 3; round++) await turn()
        if (now.kind !== 'ask') for (const count of later.splice(0)) count()
        const [[micros = 0, microsReserved = 0] = [], [tokens = 0, tokensReserved = 0] = []] = spent()
        assert.ok(micros + microsReserved <= microsMax && tokens + tokensReserved <= tokensMax)
      }
      for (const request of running) end(request, 1)
      await turn()
      assert.deepEqual(spent(), [
        [sums.micros, 0],
        [sums.tokens, 0],
      ])
    }),
    { numRuns: 150 },
  )
})
