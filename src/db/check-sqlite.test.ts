import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ledgerRow } from '../../test/harness/ledger-row.ts'
import { requireSoundDatabase } from './check-sqlite.ts'
import { sqlitePath, type DatabasePlace } from './database-place.ts'
import { openDatabase } from './open-database.ts'
import { insertRows } from '../billing/ledger/write-ahead/insert-rows.ts'

const homes: string[] = []
after(() => homes.forEach((home) => rmSync(home, { recursive: true })))

async function createFilled(): Promise<DatabasePlace> {
  const home = mkdtempSync(join(tmpdir(), 'odyssey-check-'))
  homes.push(home)
  const place = { home, databaseUrl: null }
  const db = await openDatabase(place)
  await insertRows(
    db,
    Array.from({ length: 400 }, (_, number) => ledgerRow(number)),
  )
  await db.destroy()
  return place
}

test('a sound file passes, and so does none at all', async () => {
  const place = await createFilled()
  requireSoundDatabase(place)
  requireSoundDatabase({ home: join(place.home, 'empty'), databaseUrl: null })
})

test('a damaged page is found and nothing is changed', async () => {
  const place = await createFilled()
  const path = sqlitePath(place)
  const pages = readFileSync(path).length / 4_096
  const file = openSync(path, 'r+')
  for (let page = Math.floor(pages / 2); page < pages - 1; page += 1)
    writeSync(file, Buffer.alloc(2_048, 0xa5), 0, 2_048, page * 4_096)
  closeSync(file)
  const before = readFileSync(path)
  assert.throws(() => requireSoundDatabase(place), /is damaged: .*odyssey restore FILE --replace/)
  assert.ok(readFileSync(path).equals(before))
  assert.deepEqual(readdirSync(place.home).filter((name) => name.startsWith('odyssey.db')).length > 0, true)
})

test('a file that is no database is refused in the same way', async () => {
  const place = await createFilled()
  writeFileSync(sqlitePath(place), 'not a database, whatever its name says'.repeat(300))
  assert.throws(() => requireSoundDatabase(place), /is damaged: file is not a database/)
})
