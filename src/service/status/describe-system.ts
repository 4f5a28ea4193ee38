import { readFileSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { listSettings } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import { listMigrations } from '../../db/migrate.ts'
import type { Database } from '../../db/database.ts'
import type { System } from '../../http/api/resources/installation/system-schema.ts'
import { readVersion } from '../read-version.ts'

type SystemParts = { readonly config: Config; readonly db: Database; readonly startedAtMs: number }

/** Less room than this is told before the service has to stop for want of it. */
const leastFreeBytes = 2 * 1024 ** 3
const dayMs = 24 * 60 * 60 * 1_000
/** An installation that nobody backs up loses more each day. */
const backupAgeMsMax = 7 * dayMs

/** How the service is set up and how its stores are, for who runs it. */
export async function describeSystem({ config, db, startedAtMs }: SystemParts, nowMs: number): Promise<System> {
  const migrations = await listMigrations(db)
  const disk = readDisk(config.home)
  const lastBackupAtMs = readLastBackup(config.home)
  const reconciliation = await readReconciliation(db)
  const system = {
    version: readVersion(),
    startedAtMs,
    database: config.databaseUrl === null ? ('file' as const) : ('server' as const),
    migrations: {
      latest: migrations.findLast(({ appliedAt }) => appliedAt !== null)?.name ?? null,
      waiting: migrations.filter(({ appliedAt }) => appliedAt === null).length,
    },
    disk,
    ledger: await readLedgerProgress(db),
    reconciliation,
    lastBackupAtMs,
    settings: listSettings(config),
  }
  const warnings = [
    disk !== null && disk.freeBytes < leastFreeBytes ? ('disk' as const) : null,
    reconciliation !== null && !reconciliation.isEqual ? ('sums' as const) : null,
    lastBackupAtMs === null || nowMs - lastBackupAtMs > backupAgeMsMax ? ('backup' as const) : null,
    config.server.publicUrl === null && config.host !== '127.0.0.1' ? ('public-url' as const) : null,
  ]
  return { ...system, warnings: warnings.filter((warning) => warning !== null) }
}

function readDisk(home: string): System['disk'] {
  try {
    const { bavail, blocks, bsize } = statfsSync(home)
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  } catch {
    // Some file systems do not say.
    return null
  }
}

/** `odyssey backup` writes it beside the data that it has copied. */
function readLastBackup(home: string): number | null {
  try {
    const ms = Date.parse(readFileSync(join(home, 'last-backup'), 'utf8').trim())
    return Number.isNaN(ms) ? null : ms
  } catch {
    return null
  }
}

async function readLedgerProgress(db: Database): Promise<System['ledger']> {
  const progress = await db.selectFrom('ledger_progress').select('rolled_up_to').executeTakeFirst()
  const newest = await db
    .selectFrom('ledger')
    .select(({ fn }) => fn.max('sequence').as('sequence'))
    .executeTakeFirst()
  const rows = Number(newest?.sequence ?? 0)
  return { rows, notYetSummed: Math.max(0, rows - Number(progress?.rolled_up_to ?? 0)) }
}

async function readReconciliation(db: Database): Promise<System['reconciliation']> {
  const row = await db
    .selectFrom('reconciliations')
    .select(['at', 'is_equal'])
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row === undefined ? null : { atMs: Number(row.at), isEqual: row.is_equal === 1 }
}
