import { join } from 'node:path'

export type DatabaseLocation = {
  /** The data folder, which holds the SQLite file. */
  readonly home: string
  /** PostgreSQL's address with its password; null keeps everything in the data folder. */
  readonly databaseUrl: string | null
}

export function sqlitePath({ home }: Pick<DatabaseLocation, 'home'>): string {
  return join(home, 'odyssey.db')
}
