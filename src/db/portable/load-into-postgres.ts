import type { DatabaseSync } from 'node:sqlite'
import { sql, type Transaction } from 'kysely'
import { connectPostgres, migratePostgres } from '../open-postgres.ts'
import type { Tables } from '../tables.ts'
import { listTables, openToRead, type TableShape } from './portable-file.ts'

/** PostgreSQL takes 65,535 values in one statement. */
const valuesPerStatement = 60_000

/** Replaces all rows by those of a file with the same schema, in one transaction. */
export async function loadIntoPostgres(
  url: string,
  { path, replaces }: { readonly path: string; readonly replaces: boolean },
): Promise<void> {
  await migratePostgres(url)
  const db = connectPostgres(url, { connectionsMax: 1, statementTimeoutMs: 600_000 })
  const file = openToRead(path)
  try {
    await db.transaction().execute(async (transaction) => {
      if (!replaces && (await holdsSomething(transaction))) {
        throw new Error('The PostgreSQL database is not empty. With --replace everything in it is removed.')
      }
      const tables = listTables(file)
      await empty(transaction, tables)
      for (const table of tables) await load(transaction, file, table)
      await setTriggers(transaction, tables, 'enable')
      // Its own comes a minute later at best; until then sums over the ledger would be planned as if it were empty.
      await sql.raw(`analyze ${tables.map(({ name }) => name).join(', ')}`).execute(transaction)
    })
  } finally {
    file.close()
    await db.destroy()
  }
}

async function holdsSomething(transaction: Transaction<Tables>): Promise<boolean> {
  const organizations = await transaction.selectFrom('organizations').select('id').limit(1).execute()
  const rows = await transaction.selectFrom('ledger').select('request_id').limit(1).execute()
  return organizations.length + rows.length > 0
}

/** The tables that only ever grow guard themselves by triggers, which stay off until all rows are there. */
async function empty(transaction: Transaction<Tables>, tables: readonly TableShape[]): Promise<void> {
  await setTriggers(transaction, tables, 'disable')
  await sql.raw(`truncate ${tables.map(({ name }) => name).join(', ')}`).execute(transaction)
}

async function setTriggers(
  transaction: Transaction<Tables>,
  tables: readonly TableShape[],
  to: 'enable' | 'disable',
): Promise<void> {
  for (const { name } of tables) await sql.raw(`alter table ${name} ${to} trigger user`).execute(transaction)
}

async function load(
  transaction: Transaction<Tables>,
  file: DatabaseSync,
  { name, columns }: TableShape,
): Promise<void> {
  const rowsPerStatement = Math.floor(valuesPerStatement / columns.length)
  const insert = (rows: readonly Record<string, unknown>[]) => {
    const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`)
    const list = sql.join(columns.map((column) => sql.ref(column)))
    return sql`insert into ${sql.table(name)} (${list}) values ${sql.join(values)}`.execute(transaction)
  }
  let batch: Record<string, unknown>[] = []
  for (const row of file.prepare(`SELECT ${columns.join(', ')} FROM ${name}`).iterate()) {
    batch.push(row)
    if (batch.length < rowsPerStatement) continue
    await insert(batch)
    batch = []
  }
  if (batch.length > 0) await insert(batch)
  for (const column of columns) await continueCounting(transaction, name, column)
}

/** A column that counts up goes on after the largest number that was loaded. */
async function continueCounting(transaction: Transaction<Tables>, table: string, column: string): Promise<void> {
  const { rows } = await sql<{
    counter: string | null
  }>`select pg_get_serial_sequence(${table}, ${column}) as counter`.execute(transaction)
  const counter = rows[0]?.counter ?? null
  if (counter === null) return
  await sql`select setval(${counter}, coalesce(max(${sql.ref(column)}), 0) + 1, false) from ${sql.table(table)}`.execute(
    transaction,
  )
}
