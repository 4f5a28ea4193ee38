import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'

const copy = `select sequence, request_id, kind, at, organization_id, project_id, api_key_id, 'other', outcome, duration_ms from ledger`
const columns = `sequence, request_id, kind, at, organization_id, project_id, api_key_id, model, outcome, duration_ms`

onEachDatabase(({ name, open }) => {
  test('an insertion that would replace a row of the ledger is refused, and one that repeats it is not', async () => {
    const db = await open()
    const read = () => db.selectFrom('ledger').selectAll().execute()
    await db
      .insertInto('ledger')
      .values([ledgerRow(1), ledgerRow(2)])
      .execute()
    const before = await read()
    if (name === 'SQLite') {
      const [bySequence, byRequest] = [copy.replace('request_id', `'req_9'`), copy.replace('sequence', 'sequence + 90')]
      for (const select of [copy, bySequence, byRequest]) {
        for (const verb of ['insert or replace', 'replace', 'insert or ignore']) {
          await rejects(sql.raw(`${verb} into ledger (${columns}) ${select}`).execute(db), /append-only/)
        }
      }
      await sql.raw(`replace into ledger select * from ledger`).execute(db)
    } else {
      const update = sql.raw(
        `insert into ledger (${columns}) ${copy} on conflict (request_id, kind) do update set at = 0`,
      )
      await rejects(update.execute(db), /append-only/)
    }
    await db
      .insertInto('ledger')
      .values([ledgerRow(1), ledgerRow(3)])
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    deepEqual((await read()).slice(0, 2), before)
    deepEqual((await read()).length, 3)
    await db.destroy()
  })
})
