import { sql } from 'kysely'
import type { Database } from '../../src/db/database.ts'
import type { DatabaseLocation } from '../../src/db/database-location.ts'
import { migrateDatabase, openDatabase } from '../../src/db/open-database.ts'
import { connectPostgres } from '../../src/db/open-postgres.ts'
import { isPostgres } from '../../src/db/is-postgres.ts'
import { fillLedger } from './fill-ledger.ts'

/** Opens a database with its newest schema, for statements over ten million rows, which take minutes. */
export async function openToFill(location: DatabaseLocation): Promise<Database> {
  if (location.databaseUrl === null) return openDatabase(location)
  await migrateDatabase(location)
  return connectPostgres(location.databaseUrl, { connectionsMax: 4, statementTimeoutMs: 3_600_000 })
}

/** A part of a filling, after which it can be broken off and gone on with. */
const rowsPerPart = 200_000

/**
 * Fills a ledger that is kept, up to a time, going on where an earlier run was broken off. Returns the time of its first
 * request.
 *
 * Its indexes are made at the end, all at once: ten million rows that are each put into seven of them take an hour.
 */
export async function fillKeptLedger(
  db: Database,
  rows: number,
  spanMs: number,
  untilMs = Date.now(),
): Promise<number> {
  const { firstMs, definitions } = await beginOrGoOn(db, untilMs - spanMs)
  const stepMs = spanMs / rows
  for (let done = await countRows(db); done < rows; done += rowsPerPart) {
    const part = Math.min(rowsPerPart, rows - done)
    await fillLedger(db, {
      firstNumber: done + 1,
      rows: part,
      firstMs: firstMs + Math.round(done * stepMs),
      spanMs: part * stepMs,
    })
    console.log(`${done + part} of ${rows}`)
  }
  for (const [name, definition] of definitions) {
    if (await isThere(db, name)) continue
    await sql.raw(definition).execute(db)
    console.log(`made ${name}`)
  }
  if (!isPostgres(db)) await describeAgain(db, await readKept(db, described))
  return firstMs
}

/** What SQLite was told of an index goes with the index. */
async function describeAgain(db: Database, known: ReadonlyMap<string, string>): Promise<void> {
  for (const [index, numbers] of known) {
    await sql`delete from sqlite_stat1 where tbl = 'ledger' and idx = ${index}`.execute(db)
    await sql`insert into sqlite_stat1 (tbl, idx, stat) values ('ledger', ${index}, ${numbers})`.execute(db)
  }
  await sql.raw('analyze sqlite_schema').execute(db)
}

/** Kept under these beginnings: when the first request was, what made an index, and what the planner knew of it. */
const [begun, made, described] = ['first-ms', 'index ', 'shape ']

async function readKept(db: Database, start: string): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; value: string }>`select name, value from bench_filling`.execute(db)
  const own = rows.filter(({ name }) => name.startsWith(start))
  return new Map(own.map(({ name, value }) => [name.slice(start.length), value]))
}

type Filling = { readonly firstMs: number; readonly definitions: ReadonlyMap<string, string> }

async function beginOrGoOn(db: Database, firstMs: number): Promise<Filling> {
  await sql`create table if not exists bench_filling (name text primary key, value text not null)`.execute(db)
  if ((await readKept(db, begun)).size === 0) await begin(db, firstMs)
  return {
    firstMs: Number((await readKept(db, begun)).get('')),
    definitions: await readKept(db, made),
  }
}

function begin(db: Database, firstMs: number): Promise<void> {
  return db.transaction().execute(async (change) => {
    const keep = (name: string, value: string) =>
      sql`insert into bench_filling values (${name}, ${value})`.execute(change)
    await keep(begun, String(firstMs))
    if (!isPostgres(db)) {
      const shapes = await sql<{ idx: string; stat: string }>`
        select idx, stat from sqlite_stat1 where tbl = 'ledger'`.execute(change)
      for (const { idx, stat } of shapes.rows) await keep(`${described}${idx}`, stat)
    }
    for (const [name, definition] of await readDefinitions(change)) {
      await keep(`${made}${name}`, definition)
      await sql`drop index ${sql.ref(name)}`.execute(change)
    }
  })
}

/** All but those that a constraint needs. */
async function readDefinitions(db: Database): Promise<(readonly [name: string, sql: string])[]> {
  const query = isPostgres(db)
    ? sql<{ name: string; definition: string }>`
        select indexname as name, indexdef as definition from pg_indexes
        where tablename = 'ledger' and indexname not in (select conname from pg_constraint)`
    : sql<{ name: string; definition: string }>`
        select name, sql as definition from sqlite_master
        where type = 'index' and tbl_name = 'ledger' and sql is not null`
  const { rows } = await query.execute(db)
  return rows.map(({ name, definition }) => [name, definition] as const)
}

async function isThere(db: Database, name: string): Promise<boolean> {
  const definitions = await readDefinitions(db)
  return definitions.some(([known]) => known === name)
}

async function countRows(db: Database): Promise<number> {
  const last = await db
    .selectFrom('ledger')
    .select(({ fn }) => fn.max('sequence').as('last'))
    .executeTakeFirst()
  return Number(last?.last ?? 0)
}
