import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../lib/message-of.ts'
import { sqlitePath, type DatabasePlace } from './database-place.ts'

/**
 * Refuses a SQLite file that is damaged, before anything is served or written.
 *
 * Reads the whole file, which takes about a second for each gigabyte. Nothing to
 * do for PostgreSQL, which checks its pages as it reads them.
 */
export function requireSoundDatabase(place: DatabasePlace): void {
  const path = sqlitePath(place)
  if (place.databaseUrl !== null || !existsSync(path)) return
  const fault = findFault(path)
  if (fault === null) return
  throw new Error(
    `${path} is damaged: ${fault}. Nothing was changed. Restore a backup with "odyssey restore FILE --replace", ` +
      'which keeps the damaged file under another name; docs/operations/storage.md says more.',
  )
}

function findFault(path: string): string | null {
  const file = new DatabaseSync(path, { timeout: 5_000 })
  try {
    const said = String(file.prepare('PRAGMA quick_check(1)').get()?.['quick_check'])
    return said === 'ok' ? null : said.replaceAll('\n', ' ')
  } catch (error) {
    return messageOf(error)
  } finally {
    file.close()
  }
}
