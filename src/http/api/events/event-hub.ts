import type { OrganizationId } from '../../../core/ids.ts'
import type { ChangeFeed } from '../../../db/change-feed.ts'
import type { Database } from '../../../db/database.ts'
import { topics as changeTopics, type Topic } from '../../../db/tables/changes.ts'
import { every, type Clock } from '../../../lib/clock.ts'

/** What is told of: a topic of the change feed, or that requests were settled. */
export type EventTopic = Topic | 'requests'

/** Hears of a topic; of requests also whose they were, of the rest only that something has changed. */
export type HearEvent = (topic: EventTopic, organizationId: OrganizationId | null) => void

type HubParts = {
  readonly db: Database
  readonly clock: Clock
  readonly feed: Pick<ChangeFeed, 'subscribe'>
}

/** The ledger is looked at this often, and only while somebody listens: once for all readers of a gateway. */
const lookEveryMs = 1_000

/** Tells readers in browsers that something has changed, wherever it was changed: by this gateway or another one. */
export class EventHub {
  readonly #parts: HubParts
  readonly #listeners = new Map<HearEvent, string>()
  readonly #counters = new Map<Topic, number>()
  #stop: (() => void) | null = null
  /** The last row of the ledger that was told of; null before the first look. */
  #sequence: number | null = null

  constructor(parts: HubParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#listeners.size
  }

  /** How many streams a session has open. */
  streamsOf(sessionId: string): number {
    return [...this.#listeners.values()].filter((id) => id === sessionId).length
  }

  /** Returns the way to stop. */
  subscribe(sessionId: string, hear: HearEvent): () => void {
    this.#listeners.set(hear, sessionId)
    this.#stop ??= this.#begin()
    return () => {
      this.#listeners.delete(hear)
      if (this.#listeners.size > 0) return
      this.#stop?.()
      this.#stop = null
      this.#sequence = null
    }
  }

  #begin(): () => void {
    const { clock, feed } = this.#parts
    const unsubscribe = changeTopics.map((topic) =>
      feed.subscribe(topic, ({ counter }) => {
        const before = this.#counters.get(topic)
        this.#counters.set(topic, counter)
        if (before !== undefined && before !== counter) this.#tell(topic, null)
      }),
    )
    const stopLooking = every(clock, lookEveryMs, () => this.#look())
    return () => {
      for (const stop of unsubscribe) stop()
      void stopLooking()
    }
  }

  async #look(): Promise<void> {
    try {
      const { db } = this.#parts
      const last = this.#sequence
      if (last === null) {
        const row = await db
          .selectFrom('ledger')
          .select((eb) => eb.fn.max('sequence').as('sequence'))
          .executeTakeFirst()
        this.#sequence = Number(row?.sequence ?? 0)
        return
      }
      const rows = await db
        .selectFrom('ledger')
        .select((eb) => ['organization_id', eb.fn.max('sequence').as('sequence')])
        .where('sequence', '>', last)
        .groupBy('organization_id')
        .execute()
      this.#sequence = Math.max(last, ...rows.map(({ sequence }) => Number(sequence)))
      for (const { organization_id: id } of rows) this.#tell('requests', id)
    } catch {
      // While the database is away nothing is settled; the next look tells of all that was.
    }
  }

  #tell(topic: EventTopic, organizationId: OrganizationId | null): void {
    for (const hear of this.#listeners.keys()) hear(topic, organizationId)
  }
}
