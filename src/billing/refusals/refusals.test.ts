import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { createManualClock, type ManualClock } from '../../../test/harness/manual-clock.ts'
import { ApiError } from '../../core/error.ts'
import { RequestEnded } from '../../core/request-ended.ts'
import type { Database } from '../../db/database.ts'
import { createLog } from '../../telemetry/log.ts'
import { readRefusals, type RefusalQuery, type RefusalRow } from './read-refusals.ts'
import { minuteMs } from './minute.ts'
import { createRefusals, deleteOldRefusals, type LiveRefusals } from './refusals.ts'

const operator = { kind: 'operator' } as const
const hour = Date.UTC(2027, 2, 1, 8)
const limited = new ApiError({ code: 'rate-limited', retryAfterMs: 1_000 }, 'too many')
const spent = new ApiError({ code: 'budget-exceeded' }, 'spent')

onEachDatabase(({ open }) => {
  let db: Database
  let clock: ManualClock
  let refusals: LiveRefusals
  let counted: string[]
  const metrics = {
    turnedAway: (refusal: string) => void counted.push(refusal),
    judged: (model: string, verdict: string) => void counted.push(`${model} ${verdict}`),
  }
  beforeEach(async () => {
    db = await open()
    clock = createManualClock(hour)
    counted = []
    refusals = createRefusals({ db, clock, log: createLog('silent'), metrics })
  })
  afterEach(() => db.destroy())

  const read = (changes: Partial<RefusalQuery> = {}) => {
    const query = { organizationId: null, fromMs: 0, toMs: null, bucket: 'minute', limit: 100, after: null } as const
    return readRefusals(db, operator, { ...query, ...changes })
  }

  test('a thousand refusals of an organization in a minute are one row for each class', async () => {
    for (let count = 0; count < 1_000; count += 1) {
      refusals.count('org_1', count % 4 === 0 ? spent : limited)
      clock.advance(50)
      if (count % 100 === 0) await refusals.flush()
    }
    await refusals.close()
    const row = { startMs: hour, organizationId: 'org_1' } as const
    assert.deepEqual(await read(), [
      { ...row, class: 'budget-exceeded', requests: 250 },
      { ...row, class: 'rate-limited', requests: 750 },
    ])
    assert.equal(counted.length, 1_000)
  })

  test('refusals are written a few seconds after they were counted, without being asked for', async () => {
    refusals.count('org_1', limited)
    clock.advance(4_999)
    assert.deepEqual(await read(), [])
    clock.advance(1)
    await refusals.flush()
    assert.equal((await read()).length, 1)
  })

  test('several gateways add to the same counters', async () => {
    const other = createRefusals({ db, clock, log: createLog('silent'), metrics })
    refusals.count('org_1', limited)
    other.count('org_1', limited)
    await Promise.all([refusals.flush(), other.flush()])
    assert.deepEqual(
      (await read()).map(({ requests }) => requests),
      [2],
    )
  })

  test('faults of the service and clients that leave are no refusals', async () => {
    refusals.count('org_1', new Error('a bug'))
    refusals.count('org_1', new ApiError({ code: 'engine-failed' }, 'crashed'))
    refusals.count('org_1', new ApiError({ code: 'internal' }, 'fault'))
    refusals.count('org_1', new RequestEnded('client-left', { code: 'request-timeout' }, 'left'))
    await refusals.close()
    assert.deepEqual([await read(), counted], [[], []])
  })

  test('what is turned away by the service’s fault is told by its model, if it is one that is offered', () => {
    const overloaded = new ApiError({ code: 'overloaded', retryAfterMs: 1 }, '')
    refusals.count('org_1', overloaded, 'hal-1.0')
    refusals.count('org_1', overloaded, 'somebody’s text')
    refusals.count('org_1', overloaded, null)
    refusals.count('org_1', limited, 'hal-1.0')
    const told = ['hal-1.0 unserved', 'overloaded', 'overloaded', 'overloaded', 'rate-limited']
    assert.deepEqual(counted, told)
  })

  test('what could not be written is written later, once', async () => {
    let isAway = true
    const away = { execute: () => Promise.reject(new Error('away')) }
    const fickle = { transaction: () => (isAway ? away : db.transaction()) } as Database
    const patient = createRefusals({ db: fickle, clock, log: createLog('silent'), metrics })
    patient.count('org_1', limited)
    await patient.flush()
    isAway = false
    patient.count('org_1', limited)
    await patient.flush()
    await patient.close()
    assert.deepEqual(
      (await read()).map(({ requests }) => requests),
      [2],
    )
  })

  test('refusals are summed up by minute, hour and day, for one organization or all, in pages', async () => {
    for (let minute = 0; minute < 90; minute += 1) {
      refusals.count('org_1', limited)
      if (minute % 2 === 0) refusals.count('org_2', spent)
      if (minute % 3 === 0) refusals.count(null, new ApiError({ code: 'unauthenticated', key: null }, 'who?'))
      clock.advance(minuteMs)
    }
    await refusals.close()
    const sumsOf = (rows: readonly RefusalRow[]) => rows.map((row) => [row.startMs, row.organizationId, row.requests])
    const later = hour + 60 * minuteMs
    const hours = [
      [hour, null, 20],
      [hour, 'org_1', 60],
      [hour, 'org_2', 30],
      [later, null, 10],
      [later, 'org_1', 30],
      [later, 'org_2', 15],
    ]
    assert.deepEqual(sumsOf(await read({ bucket: 'hour' })), hours)
    assert.deepEqual(sumsOf(await read({ bucket: 'hour', organizationId: 'org_2' })), [hours[2], hours[5]])
    assert.deepEqual(
      sumsOf(await read({ bucket: 'day', toMs: later })),
      sumsOf(await read({ bucket: 'day' })).map(([, organization], index) => [
        Date.UTC(2027, 2, 1),
        organization,
        hours[index]?.[2],
      ]),
    )
    const paged: RefusalRow[] = []
    for (let after: RefusalRow | null = null; ;) {
      const page: RefusalRow[] = await read({ bucket: 'hour', limit: 2, after })
      paged.push(...page)
      after = page.at(-1) ?? null
      if (page.length < 2) break
    }
    assert.deepEqual(sumsOf(paged), hours)
    assert.equal((await read({ limit: 1_000 })).length, 90 + 45 + 30)
  })

  test('old counters of refusals are deleted', async () => {
    refusals.count('org_1', limited)
    clock.advance(minuteMs)
    refusals.count('org_1', limited)
    await refusals.close()
    await deleteOldRefusals(db, hour + minuteMs)
    assert.deepEqual(
      (await read()).map(({ startMs }) => startMs),
      [hour + minuteMs],
    )
  })
})
