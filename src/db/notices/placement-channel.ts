import { sql } from 'kysely'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../database.ts'
import { listenPostgres } from './listen-postgres.ts'

/** News that all gateways of an installation hear of each other, as long as they are connected: nothing of them is kept. */
export type PlacementChannel = {
  send(news: readonly string[]): Promise<void>
  /** Returns the way to stop. */
  subscribe(hear: (news: string) => void): () => void
  close(): Promise<void>
}

const channel = 'odyssey_placements'

/** By PostgreSQL's LISTEN and NOTIFY. */
export function openPlacementChannel({
  db,
  clock,
  url,
}: {
  readonly db: Database
  readonly clock: Clock
  readonly url: string
}): PlacementChannel {
  const hearers = new Set<(news: string) => void>()
  const stop = listenPostgres({
    url,
    channel,
    clock,
    onConnect: () => {},
    onNotice(notice) {
      for (const hear of hearers) hear(notice)
    },
  })
  return {
    async send(news) {
      if (news.length === 0) return
      // Notices are not kept, so nobody waits for a disk: a commit that does would make all that notify wait in a row.
      await sql`select set_config('synchronous_commit', 'off', true), pg_notify(${channel}, news)
        from unnest(${news}::text[]) as news`.execute(db)
    },
    subscribe(hear) {
      hearers.add(hear)
      return () => hearers.delete(hear)
    },
    close: stop,
  }
}
