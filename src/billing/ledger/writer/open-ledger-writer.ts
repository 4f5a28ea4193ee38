import { join } from 'node:path'
import { sqlitePath, type DatabaseLocation } from '../../../db/database-location.ts'
import type { LedgerWriter, StorageReport } from './ledger-writer.ts'
import { createSqliteLedgerWriter } from './sqlite-ledger-writer.ts'

/** One connection writes and another one replays; a statement that hangs is given up soon, so that the replay can begin. */
const writerLimits = { connectionsMax: 2, statementTimeoutMs: 10_000 }

/** The writer for the service's ledger rows. The database has its schema already. */
export async function openLedgerWriter(location: DatabaseLocation, report: StorageReport): Promise<LedgerWriter> {
  if (location.databaseUrl === null) return createSqliteLedgerWriter({ path: sqlitePath(location), report })
  // The PostgreSQL client takes longer to load than everything else together.
  const [{ connectPostgres }, { openPostgresLedgerWriter }] = await Promise.all([
    import('../../../db/open-postgres.ts'),
    import('./postgres-ledger-writer.ts'),
  ])
  const db = connectPostgres(location.databaseUrl, writerLimits)
  return openPostgresLedgerWriter({ db, folder: join(location.home, 'spool'), report })
}
