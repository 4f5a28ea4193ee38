import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { OrganizationId } from '../../core/ids.ts'
import { findPriceCourse } from './price-course.ts'
import type { Price } from './price.ts'

let made = 0
function price(organizationId: OrganizationId | null, effectiveAtMs: number, input: number | null): Price {
  made += 1
  const rates =
    input === null ? null : { input, cacheRead: 0, cacheWriteShort: input, cacheWriteLong: input, output: input }
  const what = { organizationId, effectiveAtMs, rates, createdAtMs: made, model: 'hal-1.0', currency: 'USD' }
  return { id: `price_${made}`, ...what, fault: null }
}
function courseOf(prices: readonly Price[], nowMs: number, organizationId: OrganizationId | null = 'org_1') {
  const { current, announced } = findPriceCourse(prices, { organizationId, model: 'hal-1.0', nowMs })
  const [now = null, ...later] = [current, ...announced].map((step) => step && [step.fromMs, step.rates?.input ?? null])
  return { now, later }
}

test('a general price that is set while an own one counts is announced for when the own one ends', () => {
  const prices = [price(null, 1, 3), price('org_1', 2, 1), price(null, 10, 9), price('org_1', 20, null)]
  deepEqual(courseOf(prices, 5), { now: [2, 1], later: [[20, 9]] })
  deepEqual(courseOf(prices, 5, 'org_2'), { now: [1, 3], later: [[10, 9]] })
  deepEqual(courseOf(prices, 5, null), { now: [1, 3], later: [[10, 9]] })
})

test('a price ends where no other takes its place, and nothing is told of what changes nothing', () => {
  const prices = [price(null, 1, 3), price(null, 10, 3), price('org_1', 11, 3), price(null, 20, null)]
  deepEqual(courseOf(prices, 5), { now: [1, 3], later: [] })
  deepEqual(courseOf(prices, 5, null), { now: [1, 3], later: [[20, null]] })
  deepEqual(courseOf(prices, 20, null), { now: [20, null], later: [] })
})

test('of two prices for one moment the later made one is announced, and of one that cannot be used nothing', () => {
  const unusable = { ...price(null, 12, null), fault: 'it is in EUR and billing.currency is USD' }
  const prices = [price(null, 10, 4), price(null, 10, 5), unusable]
  deepEqual(courseOf(prices, 5), { now: null, later: [[10, 5]] })
})
