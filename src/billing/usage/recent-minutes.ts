import { sql, type Transaction } from 'kysely'
import type { OrganizationId } from '../../core/ids.ts'
import { narrowProjects } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Database } from '../../db/database.ts'
import type { Tables } from '../../db/tables.ts'
import { minuteMs } from '../refusals/minute.ts'
import { addedTo, bucketOfLedger, hourMs } from './usage-columns.ts'

/** Twice as long as anybody looks back. */
const keptMs = 2 * hourMs

const counted = ['requests', 'failed', 'aborted', 'output'] as const

/** What was asked in a minute that began at `startMs`; the tokens of `output` are those of all its requests. */
export type RecentMinute = { readonly startMs: number } & Readonly<Record<(typeof counted)[number], number>>

/** Adds ledger rows to the last minutes, and forgets older ones; the caller makes sure that it is done once for each. */
export async function addRecentRows(
  transaction: Transaction<Tables>,
  { after, upTo, nowMs }: { readonly after: number; readonly upTo: number; readonly nowMs: number },
): Promise<void> {
  const rows = countMinutes(transaction)
    .where('sequence', '>', after)
    .where('sequence', '<=', upTo)
    .where('at', '>=', nowMs - keptMs)
  await transaction
    .insertInto('recent_minutes')
    .columns(['organization_id', 'project_id', 'at', ...counted])
    .expression(rows)
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'at', 'project_id']).doUpdateSet(addedTo('recent_minutes', counted)),
    )
    .execute()
  await transaction
    .deleteFrom('recent_minutes')
    .where('at', '<', nowMs - keptMs)
    .execute()
}

type Wanted = { readonly organizationId: OrganizationId; readonly fromMs: number }

/**
 * The minutes of an organization in which anything was asked, as far as the principal may see its usage. `fromMs` is the
 * beginning of a minute within the last two hours.
 *
 * No request is read that is rolled up, of which an hour may have a million.
 */
export async function readRecentMinutes(
  db: Database,
  principal: Principal,
  wanted: Wanted,
): Promise<readonly RecentMinute[]> {
  const projectIds = narrowProjects(principal, 'usage:read', wanted)
  if (projectIds?.length === 0) return []
  const isSeen = projectIds === undefined ? sql`1 = 1` : sql`project_id in (${sql.join(projectIds)})`
  for (;;) {
    const { rolled_up_to: upTo } = await db
      .selectFrom('ledger_progress')
      .select('rolled_up_to')
      .executeTakeFirstOrThrow()
    const sums = counted.map((column) => sql`cast(sum(${sql.ref(column)}) as bigint) as ${sql.ref(column)}`)
    // The organization is compared in a way that no index is for: the few rows behind the mark are found by their place.
    const { rows } = await sql<RecentMinute & { readonly mark: number }>`
      select at as "startMs", (select rolled_up_to from ledger_progress) as mark, ${sql.join(sums)} from (
        select at, ${sql.join(counted.map((column) => sql.ref(column)))} from recent_minutes
        where organization_id = ${wanted.organizationId} and at >= ${wanted.fromMs} and ${isSeen}
        union all
        select at, ${sql.join(counted.map((column) => sql.ref(column)))} from (
          ${countMinutes(db).where('sequence', '>', upTo)}
        ) as fresh
        where organization_id || '' = ${wanted.organizationId} and at >= ${wanted.fromMs} and ${isSeen}
      ) as minutes group by at order by at`.execute(db)
    // Rows that were rolled up in the meantime would count twice.
    if (rows.every(({ mark }) => Number(mark) === Number(upTo))) return rows.map(toMinute)
  }
}

/** The minutes as the ledger's rows make them. */
function countMinutes(db: Pick<Transaction<Tables>, 'selectFrom'>) {
  const minute = bucketOfLedger(minuteMs)
  const count = (outcome: string) =>
    sql<number>`cast(sum(case when outcome = ${sql.lit(outcome)} then 1 else 0 end) as bigint)`
  return db
    .selectFrom('ledger')
    .select(['organization_id', 'project_id', minute.as('at')])
    .select([
      sql<number>`count(*)`.as('requests'),
      count('failed').as('failed'),
      count('aborted').as('aborted'),
      sql<number>`cast(sum(output) as bigint)`.as('output'),
    ])
    .where(sql<boolean>`kind = 'charge'`)
    .groupBy(['organization_id', 'project_id', minute])
}

function toMinute({ startMs, ...counts }: RecentMinute): RecentMinute {
  const numbers = counted.map((column) => [column, Number(counts[column])] as const)
  return { startMs: Number(startMs), ...(Object.fromEntries(numbers) as Omit<RecentMinute, 'startMs'>) }
}
