import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, suite } from 'node:test'
import type { Database } from '../../../src/db/database.ts'
import type { DatabaseLocation } from '../../../src/db/database-location.ts'
import { connectPostgres } from '../../../src/db/open-postgres.ts'
import { openMemoryDatabase } from './memory-database.ts'
import { createPostgresDatabase } from './shared-postgres.ts'

export type TestedDatabase = {
  readonly name: 'SQLite' | 'PostgreSQL'
  /** A new, empty database with the newest schema. Whoever opens it closes it. */
  open(): Promise<Database>
  /** A data folder of its own, and for PostgreSQL an empty database without a schema. */
  createLocation(): Promise<DatabaseLocation>
}

/**
 * Runs the same tests on SQLite and on PostgreSQL.
 *
 * `define` is called once for each, inside a suite of its own, and registers
 * hooks and tests as a file would.
 */
export function onEachDatabase(define: (database: TestedDatabase) => void): void {
  suite('on SQLite', () => define(sqlite()))
  suite('on PostgreSQL', () => define(postgres()))
}

function sqlite(): TestedDatabase {
  const newHome = createHomes()
  return {
    name: 'SQLite',
    open: openMemoryDatabase,
    createLocation: () => Promise.resolve({ home: newHome(), databaseUrl: null }),
  }
}

function postgres(): TestedDatabase {
  const newHome = createHomes()
  const drops: (() => Promise<void>)[] = []
  after(async () => {
    for (const drop of drops) await drop()
  })
  const create = async (content: 'schema' | 'nothing') => {
    const { url, drop } = await createPostgresDatabase(content)
    drops.push(drop)
    return url
  }
  return {
    name: 'PostgreSQL',
    open: async () => connectPostgres(await create('schema')),
    createLocation: async () => ({ home: newHome(), databaseUrl: await create('nothing') }),
  }
}

/** Temporary folders that are gone after the suite. */
function createHomes(): () => string {
  const homes: string[] = []
  after(() => homes.forEach((home) => rmSync(home, { recursive: true, force: true })))
  return () => {
    const home = mkdtempSync(join(tmpdir(), 'odyssey-database-'))
    homes.push(home)
    return home
  }
}
