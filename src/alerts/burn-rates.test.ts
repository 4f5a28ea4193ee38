import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { findBurning, tellBurning, type MinuteSums } from './burn-rates.ts'

const minute = 60_000
const hour = 60 * minute
const now = Date.UTC(2027, 2, 10)

/** The same of each minute, up to the last one before now. */
function minutesOf(count: number, valid: number, bad: number, model = 'hal-1.0'): MinuteSums[] {
  return Array.from({ length: count }, (_, index) => ({ at: now - (index + 1) * minute, model, valid, bad }))
}
const burning = (minutes: readonly MinuteSums[]) =>
  findBurning(minutes, now, 999_000).map(({ model, severity, factor }) => [model, severity, factor])

test('an outage of everything pages with its first two minutes', () => {
  const before = minutesOf(58, 20, 0).map((one) => ({ ...one, at: one.at - 2 * minute }))
  deepEqual(burning([...before, ...minutesOf(2, 20, 20)]), [
    [null, 'page', 14.4],
    ['hal-1.0', 'page', 14.4],
  ])
})

test('a tenth of the budget in three days makes a ticket, and nothing faster', () => {
  deepEqual(burning(minutesOf(3 * 24 * 60, 1_000, 1).concat(minutesOf(6 * 60, 0, 1))), [
    [null, 'ticket', 1],
    ['hal-1.0', 'ticket', 1],
  ])
})

test('a single request that fails in a quiet night wakes nobody', () => {
  deepEqual(burning(minutesOf(1, 1, 1)), [])
  deepEqual(burning(minutesOf(9, 1, 1)), [])
})

test('what is over is not told of again', () => {
  const outage = minutesOf(10, 20, 20).map((one) => ({ ...one, at: one.at - 40 * minute }))
  deepEqual(
    burning([...outage, ...minutesOf(40, 20, 0)]).filter(([, severity]) => severity === 'page'),
    [],
  )
})

test('one model’s failures are its own', () => {
  deepEqual(burning([...minutesOf(60, 1, 1, 'hal-1.0'), ...minutesOf(60, 10_000, 0, 'tycho-1.0')]), [
    ['hal-1.0', 'page', 14.4],
  ])
})

onEachDatabase(({ open }) => {
  test('the installation is told once within the window, of rows and of what has none', async () => {
    const db = await open()
    const clock = createManualClock(now)
    const row = { organization_id: 'org_1', at: now - minute, model: 'hal-1.0' } as const
    const times = { first_at: now - minute, last_at: now - minute }
    await db
      .insertInto('availability_minutes')
      .values({ ...row, valid: 6, bad: 6, slow: 0, first_bad_at: null, last_bad_at: null })
      .execute()
    await db
      .insertInto('unserved_requests')
      .values({ ...row, class: 'overloaded', requests: 6, ...times })
      .execute()
    await tellBurning({ db, clock })
    await tellBurning({ db, clock })
    const events = await db.selectFrom('alert_events').select(['organization_id', 'topic', 'data']).execute()
    deepEqual(
      events.map(({ organization_id: whose, topic, data }) => {
        const { model, severity, bad } = JSON.parse(data) as Record<string, unknown>
        return [whose, topic, model, severity, bad]
      }),
      [
        ['org_installation', 'availability.burning', null, 'page', 12],
        ['org_installation', 'availability.burning', 'hal-1.0', 'page', 12],
      ],
    )
    clock.advance(hour)
    await db.destroy()
  })
})
