import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { budgetPeriods } from '../../core/limit.ts'
import { periodEndMs, periodStartMs } from './budget-period.ts'

const at = (text: string) => Date.parse(text)

for (const [period, moment, start, end] of [
  ['day', '2026-12-31T23:59:59.999Z', '2026-12-31', '2027-01-01'],
  ['week', '2027-01-01T00:00:00Z', '2026-12-28', '2027-01-04'],
  ['week', '2026-12-28T00:00:00Z', '2026-12-28', '2027-01-04'],
  ['week', '2027-01-03T23:59:59.999Z', '2026-12-28', '2027-01-04'],
  ['month', '2026-12-31T12:00:00Z', '2026-12-01', '2027-01-01'],
  ['year', '2028-02-29T12:00:00Z', '2028-01-01', '2029-01-01'],
] as const) {
  test(`the ${period} of ${moment} is from ${start} and before ${end}`, () => {
    equal(periodStartMs(period, at(moment)), at(start))
    equal(periodEndMs(period, at(moment)), at(end))
  })
}

test('a lifetime has no end, and every other period ends where the next begins', () => {
  fc.assert(
    fc.property(fc.constantFrom(...budgetPeriods), fc.integer({ min: 0, max: at('2100-01-01') }), (period, ms) => {
      const [start, end] = [periodStartMs(period, ms), periodEndMs(period, ms)]
      equal(start <= ms && ms < end, true)
      if (period === 'lifetime') equal(end, Infinity)
      else equal(periodStartMs(period, end), end)
    }),
  )
})
