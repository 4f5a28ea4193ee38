import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { productProgram } from '../../test/harness/as-launched.ts'
import { onEachDatabase } from '../../test/harness/databases/databases.ts'
import { migrations } from './migrate.ts'
import type { DatabaseLocation } from './database-location.ts'
import { listDatabaseMigrations, migrateDatabase, openDatabase } from './open-database.ts'

const names = Object.keys(migrations)

onEachDatabase(({ createLocation }) => {
  test('one of several processes that start at once on an empty database migrates it, and all find the schema', async () => {
    const location = await createLocation()
    const said = await Promise.all([1, 2, 3].map(() => runMigrate(location)))
    assert.deepEqual(said.toSorted(), [
      `Applied ${names.join(', ')}.\n`,
      'The schema is up to date.\n',
      'The schema is up to date.\n',
    ])
    const applied = await listDatabaseMigrations(location)
    assert.deepEqual(
      applied.map(({ name, appliedAt }) => [name, appliedAt instanceof Date]),
      names.map((name) => [name, true]),
    )
    const db = await openDatabase(location)
    assert.deepEqual(await db.selectFrom('ledger').selectAll().execute(), [])
    await db.destroy()
  })

  test('to list the migrations changes nothing', async () => {
    const location = await createLocation()
    for (const { appliedAt } of await listDatabaseMigrations(location)) assert.equal(appliedAt, null)
    if (location.databaseUrl === null) assert.deepEqual(readdirSync(location.home), [])
    assert.deepEqual(await migrateDatabase(location), names)
  })

  test('a database that a newer version has changed is refused with the reason', async () => {
    const location = await createLocation()
    const db = await openDatabase(location)
    await sql`insert into kysely_migration (name, timestamp) values ('999-later', '2030-01-01T00:00:00.000Z')`.execute(
      db,
    )
    await db.destroy()
    for (const open of [openDatabase, migrateDatabase, listDatabaseMigrations]) {
      await assert.rejects(open(location), /newer version of Odyssey: this one does not know 999-later/)
    }
  })

  test('counts come back as numbers, also those beyond 32 bits', async () => {
    const db = await openDatabase(await createLocation())
    const created_at = 2 ** 53 - 1
    await db.insertInto('organizations').values({ id: 'org_1', name: 'One', created_at }).execute()
    const row = await db.selectFrom('organizations').select('created_at').executeTakeFirstOrThrow()
    assert.equal(row.created_at, created_at)
    await db.destroy()
  })
})

async function runMigrate({ home, databaseUrl }: DatabaseLocation): Promise<string> {
  const env = { PATH: process.env['PATH'], ODYSSEY_HOME: home, DATABASE_URL: databaseUrl ?? '' }
  const { stdout } = await promisify(execFile)(process.execPath, [productProgram, 'migrate'], { env })
  return stdout
}
