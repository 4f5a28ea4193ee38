import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { ledgerRow } from '../../test/harness/databases/ledger-row.ts'
import { requireUsableDatabase } from './open-sqlite.ts'
import { sqlitePath, type DatabaseLocation } from './database-location.ts'
import { openDatabase } from './open-database.ts'
import { insertRows } from '../billing/ledger/writer/insert-rows.ts'

const homes: string[] = []
after(() => homes.forEach((home) => rmSync(home, { recursive: true })))

async function createFilled(): Promise<DatabaseLocation> {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-check-'))
  homes.push(home)
  const location = { home, databaseUrl: null }
  const db = await openDatabase(location)
  await insertRows(
    db,
    Array.from({ length: 400 }, (_, number) => ledgerRow(number)),
  )
  await db.destroy()
  return location
}

test('a sound file passes, and so does none at all', async () => {
  const location = await createFilled()
  requireUsableDatabase(location)
  requireUsableDatabase({ home: join(location.home, 'empty'), databaseUrl: null })
})

test('a damaged page is found and nothing is changed', async () => {
  const location = await createFilled()
  const path = sqlitePath(location)
  const pages = readFileSync(path).length / 4_096
  const file = openSync(path, 'r+')
  for (let page = Math.floor(pages / 2); page < pages - 1; page += 1)
    writeSync(file, Buffer.alloc(2_048, 0xa5), 0, 2_048, page * 4_096)
  closeSync(file)
  const before = readFileSync(path)
  assert.throws(() => requireUsableDatabase(location), /is damaged: .*odyssey restore FILE --replace/)
  assert.ok(readFileSync(path).equals(before))
  assert.deepEqual(readdirSync(location.home).filter((name) => name.startsWith('odyssey.db')).length > 0, true)
})

test('a file that is no database is refused in the same way', async () => {
  const location = await createFilled()
  writeFileSync(sqlitePath(location), 'not a database, whatever its name says'.repeat(300))
  assert.throws(() => requireUsableDatabase(location), /is damaged: file is not a database/)
})

test('a file that somebody is writing is one that can be written', async () => {
  const location = await createFilled()
  const other = new DatabaseSync(sqlitePath(location))
  other.exec('BEGIN IMMEDIATE')
  try {
    requireUsableDatabase(location)
  } finally {
    other.close()
  }
})

test('a file that cannot be read for a while is not taken for damaged, and no backup is advised', async () => {
  const location = await createFilled()
  const other = new DatabaseSync(sqlitePath(location))
  other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  try {
    assert.throws(
      () => requireUsableDatabase(location),
      /cannot be checked: database is locked\. Nothing was changed\.$/,
    )
  } finally {
    other.close()
  }
  requireUsableDatabase(location)
})
