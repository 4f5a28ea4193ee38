import { deepEqual, equal } from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createRandom } from '../../../test/campaigns/random.ts'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import { insertRows } from '../ledger/writer/insert-rows.ts'
import { readRecentMinutes, type RecentMinute } from './recent-minutes.ts'
import { rollUp } from './roll-up.ts'

const minuteMs = 60_000
const operator: Principal = { kind: 'operator' }
const developer: Principal = {
  kind: 'member',
  memberId: 'mem_1',
  organizationId: 'org_1',
  role: 'developer',
  projectIds: ['proj_1'],
}

onEachDatabase(({ open }) => {
  let db: Database
  beforeEach(async () => {
    db = await open()
  })
  afterEach(() => db.destroy())

  const clock = createManualClock(Date.UTC(2027, 2, 1, 12, 34, 56))
  const fromMs = clock.nowMs() - (clock.nowMs() % minuteMs) - 59 * minuteMs
  const wanted = { organizationId: 'org_1', fromMs } as const
  const random = createRandom(31)
  const rows = Array.from({ length: 900 }, (_, number) => ({
    ...ledgerRow(number),
    organization_id: `org_${random.integer(1, 2)}` as const,
    project_id: `proj_${random.integer(1, 3)}` as const,
    at: clock.nowMs() - random.integer(0, 90 * minuteMs),
    outcome: random.pick(['finished', 'failed', 'aborted'] as const),
    output: random.integer(0, 1_000),
  }))

  /** The same minutes, made from the rows themselves. */
  function expected(some: typeof rows, isSeen: (row: (typeof rows)[number]) => boolean): RecentMinute[] {
    const own = some.filter((row) => row.organization_id === 'org_1' && row.at >= fromMs && isSeen(row))
    return [...Map.groupBy(own, ({ at }) => at - (at % minuteMs))]
      .map(([startMs, group]) => ({
        startMs,
        requests: group.length,
        failed: group.filter(({ outcome }) => outcome === 'failed').length,
        aborted: group.filter(({ outcome }) => outcome === 'aborted').length,
        output: group.reduce((sum, { output }) => sum + output, 0),
      }))
      .toSorted((one, other) => one.startMs - other.startMs)
  }

  async function check(some: typeof rows): Promise<void> {
    deepEqual(
      await readRecentMinutes(db, operator, wanted),
      expected(some, () => true),
    )
    deepEqual(
      await readRecentMinutes(db, developer, wanted),
      expected(some, ({ project_id }) => project_id === 'proj_1'),
      'of the projects of who asks',
    )
  }

  test('minutes are those of the rows, whatever of them has been rolled up', async () => {
    await insertRows(db, rows.slice(0, 500))
    await check(rows.slice(0, 500))
    await rollUp(db, { clock })
    await insertRows(db, rows.slice(500))
    await check(rows)
    await rollUp(db, { clock, batchRows: 70 })
    await rollUp(db, { clock })
    await check(rows)
  })

  test('minutes that nobody looks at any more are forgotten', async () => {
    await insertRows(db, rows)
    await rollUp(db, { clock })
    clock.advance(3 * 60 * minuteMs)
    await insertRows(db, [{ ...ledgerRow(rows.length), organization_id: 'org_1', at: clock.nowMs() }])
    await rollUp(db, { clock })
    const kept = await db.selectFrom('recent_minutes').select('requests').execute()
    deepEqual(
      kept.map(({ requests }) => Number(requests)),
      [1],
    )
  })

  test('rows of long ago become no minutes', async () => {
    await insertRows(db, [{ ...ledgerRow(0), organization_id: 'org_1', at: clock.nowMs() - 26 * 60 * minuteMs }])
    await rollUp(db, { clock })
    equal((await db.selectFrom('recent_minutes').selectAll().execute()).length, 0)
  })
})
