import { sql, type Transaction } from 'kysely'
import type { AlertTopic } from '../core/alert-topic.ts'
import type { OrganizationId } from '../core/ids.ts'
import type { Fields } from '../db/change.ts'
import type { Database } from '../db/database.ts'
import type { Tables } from '../db/tables.ts'
import type { AlertEventTable } from '../db/tables/alerts.ts'
import type { Clock } from '../lib/clock.ts'
import { randomId } from '../lib/random-id.ts'

export type AlertParts = { readonly db: Database; readonly clock: Clock }

export type NewEvent = {
  readonly topic: AlertEventTable['topic']
  readonly data: Fields
  /** The only channel it is for. */
  readonly channelId?: string
}

/** Rows of an event have eight values, and a statement of SQLite at most 32,766. */
const rowsAtOnce = 500

/** Adds events at the end of their organization's, in order. Others who want to do so wait until this transaction ends. */
export async function appendEvents(
  transaction: Transaction<Tables>,
  nowMs: number,
  { organizationId, events }: { readonly organizationId: OrganizationId; readonly events: readonly NewEvent[] },
): Promise<void> {
  if (events.length === 0) return
  const last = await lockStream(transaction, organizationId)
  const silenced = await readSilenced(transaction, organizationId, nowMs)
  const rows = events.map((event, index): AlertEventTable => {
    return {
      organization_id: organizationId,
      sequence: last + 1 + index,
      id: `evt_${randomId()}`,
      at: nowMs,
      topic: event.topic,
      channel_id: event.channelId ?? null,
      // Whoever presses the test button wants to see it arrive.
      is_silenced: Number(event.topic !== 'channel.test' && (silenced.has(null) || silenced.has(event.topic))),
      data: JSON.stringify(event.data),
    }
  })
  for (let index = 0; index < rows.length; index += rowsAtOnce) {
    await transaction
      .insertInto('alert_events')
      .values(rows.slice(index, index + rowsAtOnce))
      .execute()
  }
  await transaction
    .updateTable('alert_streams')
    .set({ sequence: last + rows.length })
    .where('organization_id', '=', organizationId)
    .execute()
}

/** The sequence of an organization's last event, which stays the last until the transaction is over. */
export async function lockStream(transaction: Transaction<Tables>, organizationId: OrganizationId): Promise<number> {
  const { sequence } = await transaction
    .insertInto('alert_streams')
    .values({ organization_id: organizationId, sequence: 0 })
    .onConflict((conflict) =>
      conflict.column('organization_id').doUpdateSet(({ ref }) => ({ sequence: ref('alert_streams.sequence') })),
    )
    .returning('sequence')
    .executeTakeFirstOrThrow()
  return sequence
}

/** What an organization does not want to be told at the moment; null stands for everything. */
async function readSilenced(
  transaction: Transaction<Tables>,
  organizationId: OrganizationId,
  nowMs: number,
): Promise<ReadonlySet<AlertEventTable['topic'] | null>> {
  const rows = await transaction
    .selectFrom('alert_silences')
    .select('topic')
    .where('organization_id', '=', organizationId)
    .where('from_at', '<=', nowMs)
    .where('until_at', '>', nowMs)
    .execute()
  return new Set(rows.map(({ topic }) => topic))
}

export type Cause = {
  readonly organizationId: OrganizationId
  readonly topic: AlertTopic
  /** What it is told of, as `disk:data`: the same is told once within the window, by all gateways together. */
  readonly cause: string
  /** A cause is told again only after this long; null tells it once for good. */
  readonly windowMs: number | null
  readonly data: Fields
}

/** Tells of something, unless it was told within its window. Returns whether it is told now. */
export function raise({ db, clock }: AlertParts, { organizationId, topic, cause, windowMs, data }: Cause) {
  return db.transaction().execute(async (transaction): Promise<boolean> => {
    const at = clock.nowMs()
    const told = await transaction
      .insertInto('alert_causes')
      .values({ organization_id: organizationId, topic, cause, at })
      .onConflict((conflict) =>
        conflict
          .columns(['organization_id', 'topic', 'cause'])
          .doUpdateSet({ at })
          .where(windowMs === null ? sql<boolean>`1 = 0` : sql<boolean>`alert_causes.at <= ${at - windowMs}`),
      )
      .returning('at')
      .executeTakeFirst()
    if (told === undefined) return false
    await appendEvents(transaction, at, { organizationId, events: [{ topic, data }] })
    return true
  })
}
