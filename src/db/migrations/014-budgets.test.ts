import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { Migrator } from 'kysely/migration'
import { onEachDatabase } from '../../../test/harness/databases/databases.ts'
import { readLimits } from '../../limits/settings/limit-settings.ts'
import { readBudgetAlerts, readBudgets } from '../../limits/settings/budget-settings.ts'
import { readTiers } from '../../limits/settings/tiers.ts'
import type { Database } from '../database.ts'
import { sqlitePath, type DatabaseLocation } from '../database-location.ts'
import { loadMigrations } from '../migrate.ts'
import { migrateDatabase, openDatabase } from '../open-database.ts'
import { connectPostgres } from '../open-postgres.ts'
import { openSqliteUnhurried } from '../connect-sqlite.ts'

onEachDatabase(({ createLocation }) => {
  test('an installation from before tiers refuses nothing more, and keeps its limits, budgets and alerts', async () => {
    const location = await createLocation()
    const old = connect(location)
    const migrator = new Migrator({ db: old, provider: { getMigrations: loadMigrations } })
    equal((await migrator.migrateTo('011-ledger-indexes')).error, undefined)
    await sql`insert into organizations (id, name, created_at) values ('org_1', 'One', 1)`.execute(old)
    await sql`
      insert into limits (id, organization_id, subject_kind, subject_id, model, concurrency, is_requests_enforced,
        cached_read_percent, created_at, updated_at)
      values ('limit_1', 'org_1', 'organization', 'org_1', '*', 3, 0, 10, 1, 1)`.execute(old)
    for (const [id, percent] of [
      ['budget_1', 80],
      ['budget_2', null],
    ] as const) {
      await sql`
        insert into budgets (id, organization_id, subject_kind, subject_id, period, tokens_max, alert_percent,
          created_at, updated_at)
        values (${id}, 'org_1', 'organization', 'org_1', ${id === 'budget_1' ? 'day' : 'month'}, 9, ${percent}, 1, 1)
      `.execute(old)
    }
    await sql`
      insert into budget_alerts (budget_id, period_start, organization_id, at, spent_micros, spent_tokens)
      values ('budget_1', 5, 'org_1', 7, 0, 8)`.execute(old)
    await old.destroy()

    deepEqual((await migrateDatabase(location)).slice(0, 3), ['012-tiers', '013-refusals', '014-budgets'])

    const db = await openDatabase(location)
    deepEqual((await readTiers(db)).tierOf, new Map([['org_1', 'internal']]))
    deepEqual(
      (await readLimits(db)).map(({ concurrency, setBy }) => [concurrency, setBy]),
      [[3, 'installation']],
    )
    const budgets = (await readBudgets(db)).toSorted((one, other) => one.id.localeCompare(other.id))
    deepEqual(
      budgets.map(({ id, tokensMax, alertPercents, raise }) => [id, tokensMax, alertPercents, raise]),
      [
        ['budget_1', 9, [80], null],
        ['budget_2', 9, [], null],
      ],
    )
    const [first] = budgets.filter(({ id }) => id === 'budget_1')
    deepEqual(first && (await readBudgetAlerts(db, first, 5)), [{ percent: 80, reachedAtMs: 7 }])
    await db.destroy()
  })
})

/** Opens it as it is. */
function connect(location: DatabaseLocation): Database {
  return location.databaseUrl === null
    ? openSqliteUnhurried(sqlitePath(location))
    : connectPostgres(location.databaseUrl)
}
