import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import { inOrder, planScan, selectSpans } from './ledger-scan.ts'

onEachDatabase(({ open }) => {
  test('of several projects PostgreSQL is asked for so many rows of each, and reads no more of any', async () => {
    const db = await open()
    const scan = planScan(db, { organizationId: 'org_1', projectIds: ['proj_1', 'proj_2', 'proj_3'] })
    const parts = selectSpans(db, scan, { after: null, upTo: null }).map((part) => part.selectAll())
    const asked = inOrder(db, parts, 7)?.compile()
    // Once for each part, and once for all; SQLite reads its parts together, each as far as it comes.
    equal(asked?.parameters.filter((value) => value === 7).length, isPostgres(db) ? 4 : 1)
    await db.destroy()
  })
})
