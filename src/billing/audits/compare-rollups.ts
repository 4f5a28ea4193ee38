import { sql } from 'kysely'
import type { Database } from '../../db/database.ts'
import type { LedgerLine } from '../ledger/read-ledger.ts'
import { tokenColumns } from '../ledger/token-columns.ts'
import { bucketOfLedger, dayMs, summedColumns, type SummedColumn, type UsageTableName } from '../usage/usage-columns.ts'

/** The sums of a day, by organization, project, key and model. */
export type UsageSums = Map<string, Record<SummedColumn, number>>

type SumKey = Pick<LedgerLine, 'organization_id' | 'project_id' | 'api_key_id' | 'model' | 'at'>

/** Adds a ledger row, without the database: what is checked here must not be made by the same statement. */
export function addLine(sums: UsageSums, row: LedgerLine): void {
  const key = keyOf({ ...row, at: row.at - (row.at % dayMs) })
  const sum = sums.get(key) ?? zeroSums()
  const isCharge = row.kind === 'charge'
  sum.requests += isCharge ? 1 : 0
  sum.reversed += isCharge ? 0 : 1
  if (isCharge) sum[row.outcome] += 1
  sum.unpriced += isCharge && row.price_id === null ? 1 : 0
  sum.cost_micros += row.cost_micros ?? 0
  for (const column of tokenColumns) sum[column] += row[column]
  sums.set(key, sum)
}

export type RolledUp = {
  /** The rollups contain the ledger up to this row. */
  readonly rolledUpTo: number
  /** Of the days before this one, rows may have been deleted. */
  readonly keptFromMs: number
  readonly days: UsageSums
  /** The hours, added up by the day. */
  readonly hours: UsageSums
}

/** Reads both rollups as they stood at one row of the ledger. */
export async function readRolledUp(db: Database): Promise<RolledUp> {
  for (;;) {
    const before = await readProgress(db)
    const days = await readSums(db, 'usage_days', before.keptFromMs)
    const hours = await readSums(db, 'usage_hours', before.keptFromMs)
    const after = await readProgress(db)
    // A roll-up that came in between is over soon; the next attempt finds a quiet moment.
    if (after.rolledUpTo === before.rolledUpTo && after.keptFromMs === before.keptFromMs)
      return { ...before, days, hours }
  }
}

async function readProgress(db: Database): Promise<{ rolledUpTo: number; keptFromMs: number }> {
  const row = await db.selectFrom('ledger_progress').select(['rolled_up_to', 'kept_from']).executeTakeFirstOrThrow()
  return { rolledUpTo: row.rolled_up_to, keptFromMs: row.kept_from }
}

async function readSums(db: Database, table: UsageTableName, keptFromMs: number): Promise<UsageSums> {
  const day = bucketOfLedger(dayMs)
  const sums = summedColumns.map((column) => sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(column)}`)
  const { rows } = await sql<SumKey & Record<SummedColumn, number>>`
    select organization_id, project_id, api_key_id, model, ${day} as at, ${sql.join(sums)}
    from ${sql.table(table)} where at >= ${keptFromMs} group by organization_id, project_id, api_key_id, model, ${day}`.execute(
    db,
  )
  return new Map(rows.map((row) => [keyOf(row), row]))
}

/** What differs, one sentence for each sum. */
export function* compareSums(expected: UsageSums, found: UsageSums): Generator<string> {
  for (const key of new Set([...expected.keys(), ...found.keys()])) {
    const [ledger, rollup] = [expected.get(key) ?? zeroSums(), found.get(key) ?? zeroSums()]
    for (const column of summedColumns) {
      if (ledger[column] !== rollup[column]) {
        yield `${key}: ${column} is ${rollup[column]} and in the ledger ${ledger[column]}`
      }
    }
  }
}

function keyOf({ organization_id: organization, project_id: project, api_key_id: key, model, at }: SumKey): string {
  return `${new Date(at).toISOString().slice(0, 10)} ${organization} ${project} ${key} ${model}`
}

function zeroSums(): Record<SummedColumn, number> {
  return Object.fromEntries(summedColumns.map((column) => [column, 0])) as Record<SummedColumn, number>
}
