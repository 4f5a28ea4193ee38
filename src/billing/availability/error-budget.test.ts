import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { periodOf } from './month.ts'
import { budgetLeft } from './report.ts'

const requests = { valid: 0, bad: 0, slow: 0, unserved: 0 }
const leftOf = (month: string, availabilityPpm: number, down: number, excluded = 0) =>
  budgetLeft(
    { availabilityPpm, basis: 'minutes' },
    { minutes: { counted: 1, down, excluded }, requests },
    periodOf(month),
  )

test('a month in which nothing was lost has all of its error budget left, whatever was promised and however long it is', () => {
  for (const month of ['2026-02', '2028-02', '2026-04', '2026-11', '2026-12']) {
    for (const ppm of [900_000, 990_000, 995_000, 999_000, 999_500, 999_900, 999_990, 999_999, 1_000_000]) {
      for (const excluded of [0, 60, 90.5]) equal(leftOf(month, ppm, 0, excluded), 1_000_000, `${month} ${ppm}`)
    }
  }
})

test('what is lost is taken off the error budget, never less than it was, down to below nothing', () => {
  // 43.2 minutes are allowed.
  equal(leftOf('2026-11', 999_000, 1), 976_851)
  equal(leftOf('2026-11', 999_000, 43), 4_629)
  equal(leftOf('2026-11', 999_000, 54), -250_000)
  equal(leftOf('2026-11', 1_000_000, 1), -1_000_000)
})
