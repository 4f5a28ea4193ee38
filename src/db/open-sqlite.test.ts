import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
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
