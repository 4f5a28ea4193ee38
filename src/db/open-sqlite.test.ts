import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { sql } from 'kysely'
import { lockHome } from './lock-home.ts'
import { openSqlite } from './open-sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-db-'))
after(() => rmSync(folder, { recursive: true }))

test('two processes that open a new file at once both find the schema', async () => {
  const path = join(folder, 'twice.db')
  const [first, second] = [await openSqlite(path), await openSqlite(path)]
  assert.deepEqual(await second.selectFrom('ledger').selectAll().execute(), [])
  await first.destroy()
  await second.destroy()
})

test('a commit is on the disk before it counts, and readers do not wait', async () => {
  const db = await openSqlite(join(folder, 'pragmas.db'))
  const read = async (name: string) => {
    const { rows } = await sql.raw<Record<string, unknown>>(`PRAGMA ${name}`).execute(db)
    return rows[0]?.[name]
  }
  assert.equal(await read('synchronous'), 2)
  assert.equal(await read('journal_mode'), 'wal')
  assert.equal(await read('foreign_keys'), 1)
  await db.destroy()
})

test('a fault that has ended its transaction is told, and not that there is none to roll back', async () => {
  const db = await openSqlite(join(folder, 'ended.db'))
  await sql`create table numbers (number integer primary key)`.execute(db)
  const insertTwice = db.transaction().execute(async (transaction) => {
    // By itself SQLite ends one where the disk is full.
    for (let times = 0; times < 2; times += 1)
      await sql`insert or rollback into numbers values (1)`.execute(transaction)
  })
  await assert.rejects(insertTwice, /UNIQUE constraint failed/)
  assert.deepEqual((await sql`select * from numbers`.execute(db)).rows, [])
  await db.destroy()
})

suite('a statement that is run again', () => {
  async function openNumbers(name: string) {
    const db = await openSqlite(join(folder, `${name}.db`))
    await sql`create table numbers (number integer primary key)`.execute(db)
    const insert = (number: number) => sql`insert into numbers values (${number})`.execute(db)
    for (const number of [1, 2, 3]) await insert(number)
    const select = sql<Record<string, unknown>>`select * from numbers order by number`
    return { db, insert, select }
  }

  test('has the columns that were added meanwhile', async () => {
    const { db, select } = await openNumbers('columns')
    assert.deepEqual((await select.execute(db)).rows.map(Object.keys), [['number'], ['number'], ['number']])
    await sql`alter table numbers add column name text default 'none'`.execute(db)
    assert.deepEqual({ ...(await select.execute(db)).rows[0] }, { number: 1, name: 'none' })
    await db.destroy()
  })

  test('is none the worse for having failed', async () => {
    const { db, insert, select } = await openNumbers('failed')
    await assert.rejects(insert(3), /UNIQUE/)
    await insert(4)
    assert.equal((await select.execute(db)).rows.length, 4)
    await db.destroy()
  })

  test('is found again among many others', async () => {
    const { db, select } = await openNumbers('many')
    for (let number = 0; number < 1_000; number += 1) {
      const { rows } = await sql.raw<{ found: number }>(`select ${number} as found`).execute(db)
      assert.equal(rows[0]?.found, number)
    }
    assert.equal((await select.execute(db)).rows.length, 3)
    await db.destroy()
  })

  test('sets a pragma anew each time', async () => {
    const { db } = await openNumbers('pragma')
    const set = (value: number) => sql.raw(`PRAGMA cache_size = ${value}`).execute(db)
    const read = async () =>
      (await sql.raw<{ cache_size: number }>('PRAGMA cache_size').execute(db)).rows[0]?.cache_size
    for (const value of [100, 200, 100]) {
      await set(value)
      assert.equal(await read(), value)
    }
    await db.destroy()
  })
})

test('a lock that is no lock any more is not taken for one that another service has', () => {
  const path = join(folder, 'junk.lock')
  writeFileSync(path, 'no lock at all, whatever its name says'.repeat(50))
  assert.throws(
    () => lockHome(path),
    /junk\.lock cannot be locked: file is not a database\. Delete it: nothing is kept in it\./,
  )
})

test('a data folder is locked for one service at a time', () => {
  const path = join(folder, 'serve.lock')
  const unlock = lockHome(path)
  assert.notEqual(unlock, null)
  assert.equal(lockHome(path), null)
  unlock?.()
  const again = lockHome(path)
  assert.notEqual(again, null)
  again?.()
})
