import { hourMs, summedColumns } from '../billing/usage/usage-columns.ts'
import { sql } from 'kysely'
import { raise, type AlertParts } from './append-event.ts'
import { countsOf, findAsking, lookBackMs, readTold } from './sources.ts'

/** A request counts in the hour in which it ends, and its row is there, and added up, a little later. */
const settledAfterMs = 300_000

/** Tells of the sums of each hour that is over, by model, once. */
export async function tellHours(parts: AlertParts): Promise<void> {
  const nowMs = parts.clock.nowMs()
  const endMs = floor(nowMs - settledAfterMs)
  for (const [organizationId, sinceMs] of await findAsking(parts, 'usage.hour')) {
    const rows = await parts.db
      .selectFrom('usage_hours')
      .select(['at', 'model'])
      .select(summedColumns.map((column) => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`.as(column)))
      .where('organization_id', '=', organizationId)
      .where('at', '>=', floor(Math.max(sinceMs, nowMs - lookBackMs)))
      .where('at', '<', endMs)
      .groupBy(['at', 'model'])
      .orderBy('at')
      .orderBy('model')
      .execute()
    const told = rows.length === 0 ? new Set() : await readTold(parts, organizationId, 'usage.hour')
    for (const row of rows) {
      if (told.has(`${row.at}:${row.model}`)) continue
      const { at, model, requests, finished, aborted, failed, reversed } = row
      const hour = new Date(at).toISOString()
      const data = { hour, model, requests, finished, aborted, failed, reversed, ...countsOf(row) }
      await raise(parts, { organizationId, topic: 'usage.hour', cause: `${at}:${model}`, windowMs: null, data })
    }
  }
}

function floor(ms: number): number {
  return ms - (ms % hourMs)
}
