import { join } from 'node:path'

export type DatabasePlace = {
  /** The data folder, which holds the SQLite file. */
  readonly home: string
  /** PostgreSQL's address with its password; null keeps everything in the data folder. */
  readonly databaseUrl: string | null
}

export function sqlitePath({ home }: Pick<DatabasePlace, 'home'>): string {
  return join(home, 'odyssey.db')
}
