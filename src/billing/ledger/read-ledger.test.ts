import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import type { ProjectId } from '../../core/ids.ts'
import { countByHour } from './count-by-hour.ts'
import type { LedgerCursor } from './ledger-scan.ts'
import { listLedger, type LedgerPage } from './list-ledger.ts'

onEachDatabase(({ open }) => {
  test('the pages of several projects have each of their rows once, newest first', async () => {
    const db = await open()
    const rows = Array.from({ length: 90 }, (_, number) => ({
      ...ledgerRow(number),
      // Several rows of a moment are told apart by their order in the ledger.
      at: 1_800_000_000_000 + Math.floor(number / 7),
      project_id: `proj_${number % 4}` as const,
      outcome: number % 5 === 0 ? ('failed' as const) : ('finished' as const),
    }))
    await db.insertInto('ledger').values(rows).execute()
    for (const projectIds of [['proj_1'], ['proj_1', 'proj_3'], ['proj_0', 'proj_2', 'proj_3']] as ProjectId[][]) {
      for (const outcome of [undefined, 'failed'] as const) {
        const found: string[] = []
        let after: LedgerCursor | null = null
        for (;;) {
          const filter = { projectIds, ...(outcome !== undefined && { outcome }) }
          const search = { organizationId: 'org_1', limit: 7, after, ...filter } as const
          const page: LedgerPage = await listLedger(db, { kind: 'operator' }, search)
          found.push(...page.rows.map(({ request_id: id }) => id))
          after = page.next
          if (after === null) break
        }
        const expected = rows
          .filter((row) => projectIds.includes(row.project_id) && (outcome === undefined || row.outcome === outcome))
          .map(({ request_id: id }) => id)
        deepEqual(found, expected.toReversed())
      }
    }
    equal(
      (await listLedger(db, { kind: 'operator' }, { organizationId: 'org_1', projectIds: [], limit: 7, after: null }))
        .rows.length,
      0,
    )
    await db.destroy()
  })

  test('requests are counted by the hour and by how they ended, voided ones once, those of other projects not', async () => {
    const db = await open()
    const hourMs = 3_600_000
    const first = 1_800_000_000_000
    const add = (number: number, fields: Partial<ReturnType<typeof ledgerRow>>) =>
      db
        .insertInto('ledger')
        .values({ ...ledgerRow(number), ...fields })
        .execute()
    await add(1, { at: first })
    await add(2, { at: first + hourMs - 1, input_cache_read: 0 })
    await add(3, { at: first + hourMs, outcome: 'failed' })
    await add(4, { at: first + hourMs, project_id: 'proj_2' })
    await add(5, { at: first, organization_id: 'org_2' })
    await add(1, { at: first + 3 * hourMs, kind: 'reversal' })
    const count = async (filter: Partial<Parameters<typeof countByHour>[2]>) => {
      const { hours: rows } = await countByHour(db, { kind: 'operator' }, { organizationId: 'org_1', ...filter })
      const told = rows.map(({ hourMs: at, outcome, requests }) => `${(at - first) / hourMs} ${outcome} ${requests}`)
      return told.toSorted()
    }
    deepEqual(await count({}), ['0 finished 2', '1 failed 1', '1 finished 1'])
    deepEqual(await count({ projectIds: ['proj_1'] }), ['0 finished 2', '1 failed 1'])
    deepEqual(await count({ isCacheMiss: true }), ['0 finished 1'])
    deepEqual(await count({ fromMs: first + 1, toMs: first + hourMs }), ['0 finished 1'])
    deepEqual(await count({ projectIds: [] }), [])
    await db.destroy()
  })
})
