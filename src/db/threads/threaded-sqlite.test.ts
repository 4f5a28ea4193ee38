import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { sql } from 'kysely'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { ledgerRow } from '../../../test/harness/databases/ledger-row.ts'
import { change } from '../change.ts'
import { openSqlite } from '../open-sqlite.ts'
import { insertRows } from '../../billing/ledger/writer/insert-rows.ts'
import { RowFault } from '../../billing/ledger/writer/group-commit.ts'
import { useDriver, ThreadedDriver } from './open-threaded-sqlite.ts'

async function open(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-threads-'))
  const path = join(folder, 'odyssey.db')
  await (await openSqlite(path)).destroy()
  const driver = new ThreadedDriver(path)
  const db = useDriver(driver)
  context.after(async () => {
    await db.destroy()
    rmSync(folder, { recursive: true })
  })
  const insert = (id: `org_${string}`) =>
    db.insertInto('organizations').values({ id, name: id, created_at: 1 }).executeTakeFirstOrThrow()
  const ids = async () =>
    (await db.selectFrom('organizations').select('id').orderBy('id').execute()).map(({ id }) => id as string)
  return { path, driver, db, insert, ids }
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setTimeout(resolve, 10))
}

test('while a write waits for its turn the event loop goes on, and so do those who only read', async (context) => {
  const { path, insert, ids } = await open(context)
  const blocker = new DatabaseSync(path)
  blocker.exec('BEGIN IMMEDIATE')
  let isWritten = false
  const writing = insert('org_1').then(() => (isWritten = true))
  await turns()
  assert.deepEqual([isWritten, await ids()], [false, []])
  blocker.exec('COMMIT')
  blocker.close()
  await writing
  assert.deepEqual(await ids(), ['org_1'])
})

test('writes say how many rows they changed, and bytes and null come back as they went', async (context) => {
  const { db, insert } = await open(context)
  assert.equal((await insert('org_1')).numInsertedOrUpdatedRows, 1n)
  const { numUpdatedRows } = await db.updateTable('organizations').set({ name: 'new' }).executeTakeFirstOrThrow()
  assert.equal(numUpdatedRows, 1n)
  const bytes = new Uint8Array([0, 255])
  const { rows } = await sql<{
    bytes: Uint8Array
    nothing: null
  }>`select ${bytes} as bytes, ${null} as empty`.execute(db)
  assert.deepEqual(rows, [{ bytes, empty: null }])
})

test('transactions come one after the other, and a statement of somebody else is part of none', async (context) => {
  const { db, insert, ids } = await open(context)
  const began = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const failing = db.transaction().execute(async (transaction) => {
    await transaction.insertInto('organizations').values({ id: 'org_1', name: 'One', created_at: 1 }).execute()
    began.resolve()
    await goOn.promise
    throw new Error('given up')
  })
  await began.promise
  const other = insert('org_2')
  assert.deepEqual(await ids(), [])
  goOn.resolve()
  await assert.rejects(failing, /given up/)
  await other
  assert.deepEqual(await ids(), ['org_2'])
})

test('changes made at once are all made, each with its record', async (context) => {
  const { db, insert } = await open(context)
  await insert('org_1')
  const action = { action: 'organizations:rename', organizationId: 'org_1', target: 'org_1' } as const
  const rename = (name: string) =>
    change({ db, clock: createManualClock() }, { kind: 'operator' }, action, (transaction) =>
      transaction.updateTable('organizations').set({ name }).where('id', '=', 'org_1').execute(),
    )
  await Promise.all(Array.from({ length: 20 }, (_, number) => rename(`Name ${number}`)))
  assert.equal((await db.selectFrom('audit').select('id').execute()).length, 20)
})

test('an error says what SQLite says', async (context) => {
  const { db, insert } = await open(context)
  await insert('org_1')
  await assert.rejects(insert('org_1'), { message: /UNIQUE/, code: 'ERR_SQLITE_ERROR', errcode: 1_555 })
  await assert.rejects(insertRows(db, [{ ...ledgerRow(1), model: null as unknown as string }]), RowFault)
  await assert.rejects(insertRows(db, [{ ...ledgerRow(1), model: {} as string }]), RowFault)
})

test('when the threads end, what was under way fails whole, and the next ones take their place', async (context) => {
  const { driver, db, insert, ids } = await open(context)
  await insert('org_1')
  const broken = db.transaction().execute(async (transaction) => {
    await transaction.insertInto('organizations').values({ id: 'org_2', name: 'Two', created_at: 1 }).execute()
    await driver.kill()
    await transaction.insertInto('organizations').values({ id: 'org_3', name: 'Three', created_at: 1 }).execute()
  })
  await assert.rejects(broken, /thread .* has ended/)
  assert.deepEqual(await ids(), ['org_1'])
  await insert('org_4')
  assert.deepEqual(await ids(), ['org_1', 'org_4'])
})

test('closing waits for what is under way', async (context) => {
  const { path, db, ids } = await open(context)
  const began = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const writing = db.transaction().execute(async (transaction) => {
    began.resolve()
    await goOn.promise
    await transaction.insertInto('organizations').values({ id: 'org_1', name: 'One', created_at: 1 }).execute()
  })
  await began.promise
  const closing = db.destroy()
  await new Promise((resolve) => setImmediate(resolve))
  const late = ids()
  goOn.resolve()
  await assert.rejects(late, /destroyed/)
  await writing
  await closing
  const file = new DatabaseSync(path, { readOnly: true })
  assert.equal(file.prepare('SELECT count(*) AS count FROM organizations').get()?.['count'], 1)
  file.close()
})
