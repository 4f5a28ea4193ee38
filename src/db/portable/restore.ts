import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { lockHome } from '../lock-home.ts'
import { sqlitePath, type DatabasePlace } from '../database-place.ts'
import { syncFolder } from '../../lib/write-file-durably.ts'
import { loadIntoPostgres } from './load-into-postgres.ts'
import { copyAndMigrate, countRows, openToRead, removeFile } from './portable-file.ts'

export type Restoring = {
  /** A backup, or a database file of a data folder. */
  readonly path: string
  /** Without it, a database that holds something is left alone. */
  readonly replaces: boolean
}

/**
 * Makes the database what a file says. Returns the number of rows of each table.
 *
 * The file is checked first and may be of an older version. If anything fails,
 * the database is as it was.
 */
export async function restore(place: DatabasePlace, { path, replaces }: Restoring): Promise<Map<string, number>> {
  mkdirSync(place.home, { recursive: true, mode: 0o700 })
  const unlock = lockHome(join(place.home, 'serve.lock'))
  if (unlock === null) throw new Error('The service is running: stop it first.')
  const copy = join(place.home, 'odyssey.db.restoring')
  try {
    removeFile(copy)
    await copyAndMigrate(path, copy)
    const counts = countRows(copy)
    if (place.databaseUrl === null) putInPlace(place, copy, replaces)
    else await loadIntoPostgres(place.databaseUrl, { path: copy, replaces })
    return counts
  } finally {
    removeFile(copy)
    unlock()
  }
}

/** What was there is kept under another name: it may be damaged, and still hold what no backup does. */
function putInPlace(place: DatabasePlace, copy: string, replaces: boolean): void {
  const path = sqlitePath(place)
  if (!replaces && holdsSomething(path)) throw new Error(`${path} is not empty. With --replace it is set aside.`)
  const aside = `${path}.replaced-${new Date().toISOString().replaceAll(':', '-')}`
  for (const suffix of ['-wal', '-shm', '']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
  }
  renameSync(copy, path)
  syncFolder(place.home)
}

function holdsSomething(path: string): boolean {
  if (!existsSync(path)) return false
  const file = openToRead(path)
  try {
    const tables = file.prepare(`SELECT name FROM sqlite_master WHERE name IN ('organizations', 'ledger')`).all()
    return tables.some(({ name }) => file.prepare(`SELECT 1 FROM ${String(name)} LIMIT 1`).get() !== undefined)
  } catch {
    // What cannot be read is no reason to lose it.
    return true
  } finally {
    file.close()
  }
}
