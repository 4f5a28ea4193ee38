import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { systemClock } from '../../lib/clock.ts'
import { hashAuditRow, type AuditRow } from '../audit-chain.ts'
import { change } from '../change.ts'
import { audit } from './006-audit.ts'

onEachDatabase(({ open }) => {
  test('rows from before there were chains are chained in the order they were written, and new ones follow', async () => {
    const db = await open()
    await db.schema.dropTable('audit').execute()
    await db.schema.dropTable('audit_chains').execute()
    let table = db.schema.createTable('audit').addColumn('id', 'text', (column) => column.primaryKey())
    table = table.addColumn('at', 'bigint', (column) => column.notNull())
    for (const name of ['organization_id', 'actor', 'action', 'target']) {
      table = table.addColumn(name, 'text', (column) => column.notNull())
    }
    await table.execute()
    const old = { actor: 'operator', action: 'api-keys:create', target: 'key_1' }
    const rows = [
      { ...old, id: 'audit_c', at: 1, organization_id: 'org_1' },
      { ...old, id: 'audit_a', at: 3, organization_id: 'org_1' },
      { ...old, id: 'audit_b', at: 2, organization_id: 'org_1' },
      { ...old, id: 'audit_d', at: 2, organization_id: 'org_2' },
    ] as const
    for (const row of rows) await db.insertInto('audit').values(row).execute()

    await audit.up(db)
    const action = { action: 'api-keys:revoke', organizationId: 'org_1', target: 'key_1' } as const
    await change({ db, clock: systemClock }, { kind: 'operator' }, action, () => Promise.resolve())

    const chained = await db.selectFrom('audit').selectAll().orderBy('organization_id').orderBy('sequence').execute()
    deepEqual(
      chained.map(({ id, organization_id, sequence }) => [organization_id, sequence, id.slice(0, 7)]),
      [
        ['org_1', 1, 'audit_c'],
        ['org_1', 2, 'audit_b'],
        ['org_1', 3, 'audit_a'],
        ['org_1', 4, chained[3]?.id.slice(0, 7)],
        ['org_2', 1, 'audit_d'],
      ],
    )
    let previous_hash = '0'.repeat(64)
    for (const row of chained.slice(0, 4)) {
      deepEqual(row.previous_hash, previous_hash)
      previous_hash = hashAuditRow(row as AuditRow, { sequence: row.sequence ?? 0, previous_hash })
      deepEqual(row.hash, previous_hash)
    }
    await db.destroy()
  })
})
