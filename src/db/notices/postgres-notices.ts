import { sql } from 'kysely'
import type { Client } from 'pg'
import type { Clock } from '../../lib/clock.ts'
import type { Database } from '../database.ts'

export type Listening = {
  readonly url: string
  readonly channel: string
  readonly clock: Clock
  /** Called whenever it listens anew: notices may have been missed. */
  onConnect(): void
  /** Receives the text of each of the database's notices. */
  onNotice(notice: string): void
}

const reconnectMs = 1_000
const connectTimeoutMs = 5_000

/** Listens on a connection of its own, and connects again whenever that breaks. Returns the way to stop. */
export function listenPostgres({ url, channel, clock, onConnect, onNotice }: Listening): () => Promise<void> {
  let client: Client | null = null
  let isStopped = false
  let cancelRetry = () => {}

  const retry = (broken: Client) => {
    if (client !== broken) return
    client = null
    // A broken connection may still hold a socket; ending it can only fail in ways that no longer matter.
    broken.end().catch(() => {})
    if (!isStopped) cancelRetry = clock.after(reconnectMs, () => void connect())
  }

  async function connect(): Promise<void> {
    // A service on a SQLite file has no use for it, and would carry it about all the same.
    const postgres = await import('pg')
    if (isStopped) return
    const opened = new postgres.Client({
      connectionString: url,
      application_name: 'odyssey notices',
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
    })
    client = opened
    opened.on('error', () => retry(opened))
    opened.on('end', () => retry(opened))
    opened.on('notification', ({ payload = '' }) => onNotice(payload))
    try {
      await opened.connect()
      await opened.query(`listen ${opened.escapeIdentifier(channel)}`)
      onConnect()
    } catch {
      retry(opened)
    }
  }

  void connect()
  return async () => {
    isStopped = true
    cancelRetry()
    const last = client
    client = null
    await last?.end().catch(() => {})
  }
}

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
