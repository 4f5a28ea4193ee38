import { join } from 'node:path'
import { sqlitePath, type DatabasePlace } from '../../../db/database-place.ts'
import type { RowWriter, StorageReport } from './row-writer.ts'
import { createSqliteRowWriter } from './sqlite-row-writer.ts'

/** One connection writes, another one replays; a statement that hangs is given up soon, so that catching up can begin. */
const writerLimits = { connectionsMax: 2, statementTimeoutMs: 10_000 }

/** The writer for the service's ledger rows. The database has its schema already. */
export async function openRowWriter(place: DatabasePlace, report: StorageReport): Promise<RowWriter> {
  if (place.databaseUrl === null) return createSqliteRowWriter({ path: sqlitePath(place), report })
  // What speaks to PostgreSQL takes longer to load than the rest altogether.
  const [{ connectPostgres }, { openPostgresRowWriter }] = await Promise.all([
    import('../../../db/open-postgres.ts'),
    import('./postgres-row-writer.ts'),
  ])
  const db = connectPostgres(place.databaseUrl, writerLimits)
  return openPostgresRowWriter({ db, folder: spoolFolder(place), report })
}

function spoolFolder({ home }: Pick<DatabasePlace, 'home'>): string {
  return join(home, 'spool')
}
