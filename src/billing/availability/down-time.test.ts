import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { LifeSpanTable } from '../../db/tables/availability.ts'
import { findDownTime } from './down-time.ts'
import type { Interval } from './intervals.ts'

const minute = 60_000
const start = Date.UTC(2027, 2, 1)
const gateway = { boot_id: 'boot_1', number: 0, subject: '', from_at: start, ended_by: null }

/** Whenever the model has worked for three minutes it fails, and works again two minutes later. */
function failuresOf(count: number, lookedAt: () => void) {
  const untilMs = start + count * 5 * minute
  const spans = Array.from({ length: count }, (_, index): LifeSpanTable => {
    const [from_at, until] = [start + index * 5 * minute, start + (index * 5 + 3) * minute]
    const ended_by = index % 2 === 0 ? 'engine-failed' : 'overloaded'
    return {
      boot_id: 'boot_1',
      number: index + 1,
      subject: 'hal-1.0',
      from_at,
      ended_by,
      get until_at() {
        lookedAt()
        return until
      },
    }
  })
  return findIn({ fromMs: start, untilMs }, spans)
}

function findIn(window: Interval, models: readonly LifeSpanTable[]) {
  const spans = [{ ...gateway, until_at: window.untilMs }, ...models]
  const rules = { minutes: new Map(), downSharePpm: 50_000, isExcluded: () => false }
  return findDownTime({ model: 'hal-1.0', window, around: window, spans, ...rules })
}

test('each time that a model fails is down with the error that it failed by', () => {
  const { down, downMinutes } = failuresOf(4, () => {})
  deepEqual(
    down.map((one) => [(one.fromMs - start) / minute, one.minutes, one.causes]),
    [
      [3, 2, ['model:engine-failed']],
      [8, 2, ['model:overloaded']],
      [13, 2, ['model:engine-failed']],
      [18, 2, ['model:overloaded']],
    ],
  )
  equal(downMinutes, 8)
})

test('of failures at the same moment the first is named', () => {
  const failed = (number: number, ended_by: string | null) => {
    return { ...gateway, number, subject: 'hal-1.0', until_at: start + minute, ended_by }
  }
  const window = { fromMs: start, untilMs: start + 3 * minute }
  const { down } = findIn(window, [failed(1, 'internal'), failed(2, 'overloaded')])
  deepEqual(
    down.map(({ causes }) => causes),
    [['model:internal']],
  )
})

test('a failure is found without a look at all others, so that a month of many takes no longer for each', () => {
  const looksFor = (count: number) => {
    let looks = 0
    failuresOf(count, () => (looks += 1))
    return looks / count
  }
  ok(looksFor(1_000) <= 2 * looksFor(100))
})
