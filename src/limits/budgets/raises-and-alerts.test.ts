import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { budgetOf, createTestLimiter, noTiers, principal } from '../../../test/harness/databases/limiter.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { ApiError } from '../../core/error.ts'
import { zeroUsage } from '../../core/generation.ts'
import type { Budget } from '../settings/setting.ts'
import type { Amounts } from './amounts.ts'
import type { BudgetParts } from './budget-account.ts'

const subject = { principal, model: 'clarke-1.0', requestId: 'req_1' } as const
const isUsedUp = (words: RegExp) => (error: unknown) =>
  error instanceof ApiError && error.code === 'budget-exceeded' && words.test(error.message)

function open(budget: Partial<Budget>, ledger: Amounts = { micros: 0, tokens: 0 }) {
  const clock = createManualClock()
  const moveTo = (ms: number) => clock.advance(ms - clock.nowMs())
  moveTo(Date.UTC(2027, 0, 27))
  const alerts: (readonly [percent: number, micros: number, tokens: number])[] = []
  const alert: BudgetParts['alert'] = (_, { percent }, readSpent) =>
    void readSpent().then(({ micros, tokens }) => alerts.push([percent, micros, tokens]))
  const readSpent = () => Promise.resolve({ sum: ledger, upTo: 0 })
  const opened = createTestLimiter({ clock, budgets: [budgetOf(budget)], parts: { alert, readSpent } })
  const begin = async (micros: number) => {
    const admission = await opened.limiter.admit(subject)
    const request = { inputTokens: 0, outputTokensMax: 0, isOutputChosen: true, worstCaseMicros: () => micros }
    await admission.reserve(request)
    const usage = { ...zeroUsage, output: 1 }
    return () => admission.settle({ usage, costPicos: BigInt(micros) * 1_000_000n, atMs: clock.nowMs() })
  }
  const spend = async (micros: number) => {
    const settle = await begin(micros)
    settle()
    await turn()
  }
  const set = (changed: Partial<Budget>) =>
    void opened.book.update({ limits: [], budgets: [budgetOf(changed)], tiers: noTiers })
  return { clock, moveTo, alerts, begin, spend, set }
}

test('a raised budget has more until the raise ends, and no debt when what was spent is more than it has again', async () => {
  const { clock, moveTo, spend, set } = open({ microsMax: 100, period: 'month' })
  await spend(90)
  await assert.rejects(spend(20), isUsedUp(/monthly/))
  const raise = { microsMax: 200, tokensMax: null, untilMs: clock.nowMs() + 60_000 }
  set({ microsMax: 100, period: 'month', raise })
  await spend(20)
  await spend(80)
  clock.advance(59_999)
  await spend(1)
  clock.advance(1)
  await assert.rejects(spend(1), isUsedUp(/monthly/))
  moveTo(Date.UTC(2027, 1, 1))
  await spend(100)
  await assert.rejects(spend(1), isUsedUp(/The next one begins at 2027-03-01T00:00:00Z/))
})

test('a raise of less than the budget has since been given changes nothing', async () => {
  const { clock, spend } = open({
    microsMax: 100,
    raise: { microsMax: 50, tokensMax: null, untilMs: Date.UTC(2027, 0, 28) },
  })
  assert.ok(clock.nowMs() < Date.UTC(2027, 0, 28))
  await spend(100)
})

test('a weekly budget begins anew on Monday, a yearly one with the year and one of a lifetime never', async () => {
  for (const [period, before, after] of [
    ['week', Date.UTC(2027, 0, 31, 23, 59), Date.UTC(2027, 1, 1)],
    ['year', Date.UTC(2027, 11, 31, 23, 59), Date.UTC(2028, 0)],
  ] as const) {
    const { moveTo, spend } = open({ microsMax: 100, period })
    await spend(100)
    moveTo(before)
    await assert.rejects(spend(1), isUsedUp(new RegExp(`${period}ly`)))
    moveTo(after)
    await spend(100)
  }
  const { moveTo, spend } = open({ microsMax: 100, period: 'lifetime' })
  await spend(100)
  moveTo(Date.UTC(2090, 0))
  await assert.rejects(spend(1), isUsedUp(/The lifetime budget of this organization is used up[^.]*\.$/))
})

test('each alert of a budget comes once in a period, when its share is reached', async () => {
  const { clock, alerts, spend } = open({ microsMax: 100, alertPercents: [50, 80, 100] })
  await spend(49)
  assert.deepEqual(alerts, [])
  await spend(1)
  await spend(1)
  assert.deepEqual(alerts, [[50, 50, 2]])
  await spend(49)
  assert.deepEqual(alerts.slice(1), [
    [80, 100, 4],
    [100, 100, 4],
  ])
  clock.advance(86_400_000)
  await spend(50)
  assert.deepEqual(alerts.slice(3), [[50, 50, 1]])
})

test('a budget that refuses since too little is left is used up: its last alert comes then, once, with what was spent', async () => {
  const { clock, alerts, spend } = open({ microsMax: 100, alertPercents: [50, 80, 100] })
  await assert.rejects(spend(101), isUsedUp(/daily/))
  await turn()
  assert.deepEqual(alerts, [], 'not even the whole budget would pay for it')
  await spend(85)
  for (let time = 0; time < 3; time += 1) await assert.rejects(spend(16), isUsedUp(/daily/))
  await turn()
  const expected = [50, 80, 100].map((percent) => [percent, 85, 1])
  assert.deepEqual(alerts, expected)
  await spend(15)
  assert.deepEqual(alerts, expected)
  clock.advance(86_400_000)
  await spend(30)
  await assert.rejects(spend(71), isUsedUp(/daily/))
  await turn()
  assert.deepEqual(alerts.slice(3), [[100, 30, 1]])
})

test('a budget that asks for no alert of all of it tells nothing when it refuses', async () => {
  const { alerts, spend } = open({ microsMax: 100, alertPercents: [90] })
  await spend(85)
  await assert.rejects(spend(16), isUsedUp(/daily/))
  await turn()
  assert.deepEqual(alerts, [])
})

test('an alert tells what was spent of both measures, whichever the budget limits', async () => {
  for (const limit of [{ microsMax: 100 }, { tokensMax: 2 }, { microsMax: 100, tokensMax: 2 }]) {
    const { alerts, spend } = open({ ...limit, alertPercents: [100] })
    await spend(60)
    await spend(40)
    assert.deepEqual(alerts, [[100, 100, 2]])
  }
})

test('an alert of a budget that was set while its requests were under way tells what the ledger held before', async () => {
  const { alerts, begin, set } = open({}, { micros: 400, tokens: 7_000 })
  const settle = await begin(600)
  set({ microsMax: 1_000, alertPercents: [50] })
  settle()
  await turn()
  assert.deepEqual(alerts, [[50, 1_000, 7_001]])
})
