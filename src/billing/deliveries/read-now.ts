import { sql } from 'kysely'
import type { Database } from '../../db/database.ts'
import { databaseNow } from '../../db/database-now.ts'
import { isPostgres } from '../../db/is-postgres.ts'
import type { Clock } from '../../lib/clock.ts'

/** The time by which all gateways of a database decide what became of answers. */
export type ReadNow = (db: Database) => Promise<number>

/** PostgreSQL has a clock of its own, since those of gateways may differ; a file has one service, and its clock. */
export function createReadNow(clock: Clock): ReadNow {
  return async (db) => {
    if (!isPostgres(db)) return clock.nowMs()
    const { rows } = await sql<{ now: number }>`select ${databaseNow()} as now`.execute(db)
    return Number(rows[0]?.now)
  }
}
