import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { countChange, readCounters } from '../changes.ts'
import type { Database } from '../database.ts'
import { sqlitePath, type DatabaseLocation } from '../database-location.ts'
import { migrateDatabase, openDatabase } from '../open-database.ts'
import { connectPostgres } from '../open-postgres.ts'
import { openSqliteUnhurried } from '../connect-sqlite.ts'
import { loadMigrations } from '../migrate.ts'

onEachDatabase(({ createLocation }) => {
  test('an installation with tables of changes of its own for keys and limits goes on counting in one', async () => {
    const location = await createLocation()
    const old = connect(location)
    const migrator = new Migrator({ db: old, provider: { getMigrations: loadMigrations } })
    const { error } = await migrator.migrateTo('008-installation')
    equal(error, undefined)
    await sql`update access_changes set count = 12`.execute(old)
    await sql`update limit_changes set count = 7`.execute(old)
    await old.insertInto('organizations').values({ id: 'org_1', name: 'One', created_at: 1 }).execute()
    await old.destroy()

    equal((await migrateDatabase(location))[0], '009-changes')

    const db = await openDatabase(location)
    deepEqual(await readCounters(db), { access: 12, limits: 7, prices: 0 })
    const counters = await db
      .transaction()
      .execute(async (transaction) => [
        await countChange(transaction, 'access'),
        await countChange(transaction, 'limits'),
        await countChange(transaction, 'prices'),
      ])
    deepEqual(counters, [13, 8, 1])
    const tables = (await db.introspection.getTables()).map(({ name }) => name)
    deepEqual(
      tables.filter((name) => name.endsWith('changes')),
      ['changes'],
    )
    equal((await db.selectFrom('organizations').select('id').execute()).length, 1)
    await db.destroy()
  })
})

/** Opens it as it is. */
function connect(location: DatabaseLocation): Database {
  return location.databaseUrl === null
    ? openSqliteUnhurried(sqlitePath(location))
    : connectPostgres(location.databaseUrl)
}
