import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import { reconcile } from '../../billing/audits/reconcile.ts'
import { verifyLedger } from '../../billing/audits/verify-ledger.ts'
import { toReversal } from '../../billing/ledger/ledger.ts'
import { insertRows } from '../../billing/ledger/writer/insert-rows.ts'
import { queryUsage } from '../../billing/usage/query-usage.ts'
import { rollUp } from '../../billing/usage/roll-up.ts'
import { systemClock } from '../../lib/clock.ts'
import type { Database } from '../database.ts'
import { exactCosts } from './015-exact-costs.ts'

/** 0.3 micro-units for a token of input, and 0.2 for one of output. */
const price = {
  id: 'price_1',
  organization_id: null,
  model: 'clarke-1.0',
  effective_at: 0,
  currency: 'USD',
  is_end: 0,
  input: 300_000,
  cache_read: 0,
  cache_write_short: 0,
  cache_write_long: 0,
  output: 200_000,
  created_at: 0,
} as const

const tokens = { input_cache_read: 0, input_cache_write: 0, price_id: price.id } as const
const asked = (number: number, input: number) => ({ ...ledgerRow(number), ...tokens, input_uncached: input, output: 0 })

onEachDatabase(({ name, open }) => {
  /** The tables as they were when costs were rounded to whole micro-units as rows were written, with rows of that time. */
  async function openOld(): Promise<Database> {
    const db = await open()
    await db.insertInto('prices').values(price).execute()
    // A later trigger names the column.
    if (name === 'SQLite') await sql`drop trigger ledger_refuses_replace`.execute(db)
    for (const table of ['ledger', 'usage_hours', 'usage_days']) {
      await sql`alter table ${sql.table(table)} drop column cost_rest_picos`.execute(db)
    }
    // A token for 0.3 was free, two for 0.6 cost 1, five for 1.5 cost 2.
    const costs = [
      [1, 0],
      [2, 1],
      [5, 2],
    ] as const
    for (const [index, [input, cost]] of costs.entries()) {
      const { cost_rest_picos: _, ...row } = asked(index + 1, input)
      await sql`insert into ledger (${sql.join(Object.keys(row).map((name) => sql.ref(name)))})
        values (${sql.join(Object.values({ ...row, cost_micros: cost }))})`.execute(db)
    }
    return db
  }

  const whole = { organizationId: 'org_1', fromMs: 0, toMs: null, bucket: 'whole', groupBy: null, limit: 1 } as const

  test('costs that were rounded stay as they were billed and verify, and new ones are exact to the last digit', async () => {
    const db = await openOld()
    await exactCosts.up(db)
    const before = await db
      .selectFrom('ledger')
      .select(['cost_micros', 'cost_rest_picos'])
      .orderBy('sequence')
      .execute()
    deepEqual(
      before.map((row) => ({ ...row })),
      [0, 1, 2].map((cost) => ({ cost_micros: cost, cost_rest_picos: null })),
    )
    await rollUp(db)
    const fresh = Array.from({ length: 1_000 }, (_, index) => ({
      ...asked(10 + index, 1),
      cost_micros: 0,
      cost_rest_picos: 300_000,
    }))
    // One statement of SQLite takes no thousand rows.
    for (const part of [fresh.slice(0, 500), fresh.slice(500)]) await insertRows(db, part)
    const [first] = fresh
    if (first !== undefined) await insertRows(db, [toReversal(first, first.at)])
    const picos = 3_000_000n + 999n * 300_000n
    for (const when of ['before', 'after']) {
      const { rows } = await queryUsage(db, { ...whole, cursor: null })
      equal(rows[0]?.costPicos, picos, `${when} they are rolled up`)
      const faults: unknown[] = []
      const verdict = await verifyLedger({ db, currency: 'USD' }, (fault) => faults.push(fault))
      deepEqual([verdict.costPicos, faults], [picos, []], `${when} they are rolled up`)
      await rollUp(db)
    }
    const { differences } = await reconcile({ db, clock: systemClock }, () => Promise.resolve())
    deepEqual(differences, [])
    await db.destroy()
  })

  test('a row that is off by a millionth of a micro-unit is named', async () => {
    const db = await open()
    await db.insertInto('prices').values(price).execute()
    await insertRows(db, [{ ...asked(1, 1), cost_micros: 0, cost_rest_picos: 300_001 }])
    const faults: string[] = []
    await verifyLedger({ db, currency: 'USD' }, ({ fault }) => faults.push(fault))
    deepEqual(faults, ['it costs 0.3 micro-units and not 0.300001'])
    await db.destroy()
  })
})
