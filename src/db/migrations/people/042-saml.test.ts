import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { migrate } from '../../migrate.ts'
import { openMemoryDatabase } from '../../../../test/harness/databases/memory-database.ts'

test('a database that has later migrations already gets this one too', async () => {
  const db = await openMemoryDatabase()
  for (const table of ['sso_results', 'connection_certificates', 'saml_connections']) {
    await db.schema.dropTable(table).execute()
  }
  await db.schema.alterTable('connections').dropColumn('kind').execute()
  await sql`delete from kysely_migration where name = '042-saml'`.execute(db)
  deepEqual(await migrate(db), ['042-saml'])
  deepEqual(await db.selectFrom('saml_connections').selectAll().execute(), [])
  await db.destroy()
})
