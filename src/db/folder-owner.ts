import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileDurably } from '../lib/write-file-durably.ts'
import type { DatabaseLocation } from './database-location.ts'

const owner = 'postgresql'

/** The file that says which database is used with a data folder. */
export function ownerPath({ home }: Pick<DatabaseLocation, 'home'>): string {
  return join(home, 'database')
}

/** Whether a database other than the folder's own has been used with it. */
export function isClaimed(location: Pick<DatabaseLocation, 'home'>): boolean {
  return existsSync(ownerPath(location))
}

/**
 * Throws where a data folder is used with PostgreSQL and the environment does not name it.
 *
 * A command would otherwise make an empty SQLite database beside it, and
 * change limits, revoke keys or count usage where no service ever looks.
 */
export function requireFolderOwner(location: DatabaseLocation): void {
  const path = ownerPath(location)
  if (location.databaseUrl !== null || !isClaimed(location)) return
  if (readFileSync(path, 'utf8').trim() !== owner) return
  throw new Error(
    `The data folder ${location.home} belongs to a PostgreSQL database: set DATABASE_URL as the service has it. ` +
      `To go on with SQLite, restore a backup with --replace.`,
  )
}

/** Notes in the data folder that it belongs to PostgreSQL, as soon as that was reached. */
export function claimFolder(location: DatabaseLocation): void {
  if (location.databaseUrl !== null && existsSync(location.home) && !isClaimed(location)) {
    writeFileDurably(ownerPath(location), `${owner}\n`)
  }
}

/** Lets the data folder have its own database again. */
export function releaseFolder(location: DatabaseLocation): void {
  rmSync(ownerPath(location), { force: true })
}
