import type { Transaction } from 'kysely'
import type { AlertTopic } from '../core/alert-topic.ts'
import type { OrganizationId } from '../core/ids.ts'
import type { AlertChannelTable } from '../db/tables/alerts.ts'
import type { Tables } from '../db/tables.ts'

export function topicsOf({ topics }: Pick<AlertChannelTable, 'topics'>): readonly AlertTopic[] {
  return JSON.parse(topics) as readonly AlertTopic[]
}

/** From where on a channel is told of a topic: behind this event of its organization, and of what happens from then on. */
export type TopicStart = { readonly sequence: number; readonly atMs: number }

type Row = Pick<AlertChannelTable, 'topics' | 'topic_starts' | 'created_at'>

/** A topic that the channel was made with begins with the channel. */
export function startOf({ topic_starts: starts, created_at: atMs }: Row, topic: AlertTopic): TopicStart {
  return startsOf(starts)[topic] ?? { sequence: 0, atMs }
}

/** The columns of a channel that is told of other topics from now on: those that it had go on, the others begin. */
export function withTopics(
  before: Row,
  topics: readonly AlertTopic[],
  now: TopicStart,
): Pick<AlertChannelTable, 'topics' | 'topic_starts'> {
  const own = [...new Set(topics)]
  const had = topicsOf(before)
  const starts = startsOf(before.topic_starts)
  const later = own.flatMap((topic) => {
    const start = had.includes(topic) ? starts[topic] : now
    return start === undefined ? [] : [[topic, start] as const]
  })
  return { topics: JSON.stringify(own), topic_starts: JSON.stringify(Object.fromEntries(later)) }
}

function startsOf(text: string | null): Partial<Readonly<Record<AlertTopic, TopicStart>>> {
  return text === null ? {} : (JSON.parse(text) as Partial<Readonly<Record<AlertTopic, TopicStart>>>)
}

/**
 * Has requests told of from now on, where a channel asks for them that was not asked for until now. Others who do so wait,
 * by the lock of the organization's events.
 */
export async function beginSource(
  transaction: Transaction<Tables>,
  { organizationId, topics }: { readonly organizationId: OrganizationId; readonly topics: readonly AlertTopic[] },
): Promise<void> {
  if (!topics.includes('request.finished')) return
  const before = await transaction
    .selectFrom('alert_channels')
    .select('topics')
    .where('organization_id', '=', organizationId)
    .execute()
  if (before.some((channel) => topicsOf(channel).includes('request.finished'))) return
  const last = await transaction
    .selectFrom('ledger')
    .select('sequence')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst()
  const ledger_up_to = last?.sequence ?? 0
  await transaction
    .insertInto('alert_sources')
    .values({ organization_id: organizationId, ledger_up_to })
    .onConflict((conflict) =>
      conflict
        .column('organization_id')
        .doUpdateSet({ ledger_up_to })
        // Whoever still tells a channel that was removed may have come further.
        .where('alert_sources.ledger_up_to', '<', ledger_up_to),
    )
    .execute()
}
