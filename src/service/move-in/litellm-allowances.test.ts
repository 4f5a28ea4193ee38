import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { planAllowances } from './litellm-allowances.ts'

const none = () => null
const budgetOf = (max_budget: number, budget_duration: string | null, spend = 0) =>
  planAllowances({ max_budget, budget_duration, spend }, none)

test('budgets that begin anew when ours do are the same here', () => {
  for (const [duration, period] of [
    ['1d', 'day'],
    ['24h', 'day'],
    ['daily', 'day'],
    ['86400s', 'day'],
    ['7d', 'week'],
    ['1w', 'week'],
    ['weekly', 'week'],
    ['30d', 'month'],
    ['1mo', 'month'],
    ['monthly', 'month'],
  ] as const) {
    const { budget, notes } = budgetOf(12.5, duration, 3)
    deepEqual(budget, { period, microsMax: 12_500_000, alertPercents: [] }, duration)
    deepEqual(notes, [], duration)
  }
})

test('a budget for another time is for the next longer one, so that it is never more, and says so', () => {
  for (const [duration, period] of [
    ['30s', 'day'],
    ['1h', 'day'],
    ['3d', 'week'],
    ['14d', 'month'],
    ['2mo', 'year'],
    ['365d', 'year'],
    ['3650d', 'lifetime'],
  ] as const) {
    const { budget, notes } = budgetOf(10, duration)
    equal(budget?.period, period, duration)
    match(notes.join(), /of the same amount/, duration)
  }
})

test('of a budget for ever what remains is carried over', () => {
  equal(budgetOf(100, null, 60.25).budget?.microsMax, 39_750_000)
  equal(budgetOf(100, null, 160).budget?.microsMax, 0)
  match(budgetOf(100, null, 60.25).notes.join(), /what remains/)
})

test('a budget that cannot be read is left out with a word', () => {
  for (const duration of ['soon', '0d', '']) {
    const { budget, notes } = budgetOf(5, duration)
    equal(budget, null)
    match(notes.join(), /cannot be read/)
  }
})

test('a soft budget becomes an alert at its share', () => {
  const { budget } = planAllowances({ max_budget: 50, soft_budget: 40, budget_duration: '30d', spend: 0 }, none)
  deepEqual(budget?.alertPercents, [80])
})

test('limits of all models, and of names that have become one model', () => {
  const models: Readonly<Record<string, 'hal-1.0' | 'tycho-1.0'>> = { a: 'hal-1.0', b: 'hal-1.0', c: 'tycho-1.0' }
  const { limits, notes } = planAllowances(
    {
      tpm_limit: 1_000,
      rpm_limit: 60,
      max_parallel_requests: 4,
      model_rpm_limit: { a: 5, b: 7, d: 9 },
      model_tpm_limit: { c: '300' },
      spend: null,
    },
    (name) => models[name] ?? null,
  )
  const both = (tokens: number) => ({
    inputTokensPerMinute: tokens,
    outputTokensPerMinute: tokens,
    cachedReadPercent: 100,
  })
  deepEqual(limits, [
    { model: '*', ...both(1_000), requestsPerMinute: 60, isRequestsEnforced: true, concurrency: 4 },
    { model: 'hal-1.0', requestsPerMinute: 12, isRequestsEnforced: true },
    { model: 'tycho-1.0', ...both(300) },
  ])
  deepEqual(notes, [])
})

test('limits that together are more than any limit may be become the largest one', () => {
  const { limits } = planAllowances({ model_rpm_limit: { a: 1e11, b: 1e11 }, spend: null }, () => 'hal-1.0')
  deepEqual(limits, [{ model: 'hal-1.0', requestsPerMinute: 1e11, isRequestsEnforced: true }])
})

test('a limit that lets nothing through is left out with a word, and one that limits nothing without', () => {
  const { limits, notes } = planAllowances({ rpm_limit: 0, tpm_limit: 2 ** 63, spend: null }, none)
  deepEqual(limits, [])
  match(notes.join('\n'), /^its rpm_limit of 0 lets nothing through/)
})

test('budgets of single models are left out with a word', () => {
  const { notes } = planAllowances({ model_max_budget: { a: { budget_limit: 1 } }, spend: null }, none)
  match(notes.join(), /budgets for single models/)
})
