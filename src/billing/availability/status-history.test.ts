import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import type { Database } from '../../db/database.ts'
import { createLog } from '../../telemetry/log.ts'
import { UnservedCounts, writeUnserved } from '../refusals/unserved.ts'
import { daysShown, keepHistory, readHistory } from './status-history.ts'

const start = Date.UTC(2027, 2, 1)
const minute = 60_000
const hour = 60 * minute
const models = ['hal-1.0']

onEachDatabase(({ open }) => {
  /** Life for two days, but for eleven minutes around midnight. */
  async function livingFor(db: Database): Promise<void> {
    const midnight = start + 24 * hour
    const spans = [
      [start, midnight - 5 * minute],
      [midnight + 6 * minute, midnight + 24 * hour],
    ] as const
    for (const subject of ['', 'hal-1.0']) {
      for (const [index, [from_at, until_at]] of spans.entries()) {
        const row = { boot_id: `boot_${subject}`, number: index, subject, from_at, until_at, ended_by: null }
        await db.insertInto('life_spans').values(row).execute()
      }
    }
  }

  test('ninety days end with today, and what went on over midnight is one incident', async () => {
    const db = await open()
    await livingFor(db)
    const clock = createManualClock(start + 47 * hour)
    const { models: found } = await readHistory({ db, clock, models })
    const [hal] = found
    equal(hal?.days.length, daysShown)
    deepEqual(hal?.days.slice(-3), [
      { day: '2027-02-28', minutes: 0, downMinutes: 0 },
      { day: '2027-03-01', minutes: 1_440, downMinutes: 5 },
      { day: '2027-03-02', minutes: 1_380, downMinutes: 6 },
    ])
    deepEqual(
      hal?.incidents.map(({ fromMs, untilMs, minutes }) => [fromMs - start, untilMs - start, minutes]),
      [[24 * hour - 5 * minute, 24 * hour + 6 * minute, 11]],
    )
    equal(hal?.firstTokenMs, null)
    await db.destroy()
  })

  test('minutes in which requests were turned away are down, where they are a twentieth of all that were for the model', async () => {
    const db = await open()
    await livingFor(db)
    const counts = new UnservedCounts()
    for (let atMs = start + hour; atMs < start + 3 * hour; atMs += minute / 4) {
      counts.add({ organizationId: 'org_1', model: 'hal-1.0', fault: 'overloaded', atMs })
      counts.add({ organizationId: 'org_2', model: 'hal-1.0', fault: 'internal', atMs })
      for (const model of [null, 'of-no-such-name']) {
        counts.add({ organizationId: 'org_1', model, fault: 'overloaded', atMs: atMs + 5 * hour })
      }
    }
    await db.transaction().execute((transaction) => writeUnserved(transaction, counts.take(), start))
    const times = { bad: 0, slow: 0, first_bad_at: null, last_bad_at: null }
    const served = [10, 1_000].map((valid, index) => {
      return { organization_id: 'org_1' as const, at: start + hour + index * minute, model: 'hal-1.0', valid, ...times }
    })
    await db.insertInto('availability_minutes').values(served).execute()
    const { models: found } = await readHistory({ db, clock: createManualClock(start + 12 * hour), models })
    const [hal] = found
    equal(hal?.days.at(-1)?.downMinutes, 119, 'not the minute in which a thousand were served')
    deepEqual(
      hal?.incidents.map((one) => [one.fromMs - start, one.minutes, one.causes, one.valid, one.bad]),
      [
        [hour + 2 * minute, 118, ['requests'], 118 * 8, 118 * 8],
        [hour, 1, ['requests'], 18, 8],
      ],
    )
    await db.destroy()
  })

  test('what was read stays while the database is away', async () => {
    const db = await open()
    await livingFor(db)
    const clock = createManualClock(start + 47 * hour)
    const history = keepHistory({ db, clock, log: createLog('silent'), models })
    await history.close()
    const before = history.read()
    equal(before?.models.length, 1)
    await db.destroy()
    const away = keepHistory({ db, clock, log: createLog('silent'), models })
    await away.close()
    equal(away.read(), null)
    deepEqual(history.read(), before)
  })
})
