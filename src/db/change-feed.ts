// The change feed, as a gateway listens to it: what was changed elsewhere is heard of by PostgreSQL's LISTEN and
// NOTIFY, and at the latest when the counters are next read, which is what SQLite has alone.

import { every, type Clock } from '../lib/clock.ts'
import { changesChannel, readCounters, type Counters } from './changes.ts'
import type { Database } from './database.ts'
import { topics, type Topic } from './tables/changes.ts'
import { listenPostgres } from './notices/postgres-notices.ts'

export type ChangeFeedOptions = {
  /** What the counters are read from. */
  readonly db: Database
  readonly clock: Clock
  /** How often they are read at the least. */
  readonly readEveryMs: number
  /** PostgreSQL's address, to listen there; null only reads. */
  readonly listenUrl: string | null
  /** Called when the counters cannot be read, and then not again until they could be. */
  onFailure(error: unknown): void
}

/** A topic's counter as it was heard of. */
export type News = {
  readonly counter: number
  /** When the counter was asked for, by the clock that never goes back; null for a notice, for which nothing was asked. */
  readonly readAtMs: number | null
}

export interface ChangeFeed {
  /** Reads the counters now, and tells nobody but the caller. */
  read(): Promise<Counters>
  /** Calls back with each notice and whenever the counters were read, also where nothing has changed. Returns the way to stop. */
  subscribe(topic: Topic, hear: (news: News) => void): () => void
  close(): Promise<void>
}

export function createChangeFeed({ db, clock, readEveryMs, listenUrl, onFailure }: ChangeFeedOptions): ChangeFeed {
  const subscribers = new Map<Topic, Set<(news: News) => void>>(topics.map((topic) => [topic, new Set()]))
  const tell = (topic: Topic, news: News) => subscribers.get(topic)?.forEach((hear) => hear(news))
  let isAway = false
  const readAndTell = async () => {
    const readAtMs = clock.monotonicMs()
    try {
      const counters = await readCounters(db)
      isAway = false
      for (const topic of topics) tell(topic, { counter: counters[topic], readAtMs })
    } catch (error) {
      // Changes that are missed while the database is away show when it is back.
      if (!isAway) onFailure(error)
      isAway = true
    }
  }
  void readAndTell()
  const stopReading = every(clock, readEveryMs, readAndTell)
  const stopListening =
    listenUrl === null
      ? () => Promise.resolve()
      : listenPostgres({
          url: listenUrl,
          channel: changesChannel,
          clock,
          onConnect: () => void readAndTell(),
          onNotice(notice) {
            const [topic, counter] = notice.split(' ')
            tell(topic as Topic, { counter: Number(counter), readAtMs: null })
          },
        })
  return {
    read: () => readCounters(db),
    subscribe(topic, hear) {
      subscribers.get(topic)?.add(hear)
      return () => subscribers.get(topic)?.delete(hear)
    },
    async close() {
      await stopListening()
      await stopReading()
    },
  }
}
