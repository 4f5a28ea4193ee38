import { Client } from 'pg'
import type { Clock } from '../lib/clock.ts'

export type Listening = {
  readonly url: string
  readonly channel: string
  readonly clock: Clock
  /** Called for each notice, and whenever the connection was made anew: notices may have been missed. */
  onNotice(): void
}

const reconnectMs = 1_000
const connectTimeoutMs = 5_000

/** Listens on a connection of its own, and connects again whenever that breaks. Returns the way to stop. */
export function listenPostgres({ url, channel, clock, onNotice }: Listening): () => Promise<void> {
  let client: Client | null = null
  let isStopped = false
  let cancelRetry = () => {}

  const retry = (broken: Client) => {
    if (client !== broken) return
    client = null
    // What is broken may still hold a socket; ending it can only fail in ways that no longer matter.
    broken.end().catch(() => {})
    if (!isStopped) cancelRetry = clock.after(reconnectMs, () => void connect())
  }

  async function connect(): Promise<void> {
    const opened = new Client({
      connectionString: url,
      application_name: 'odyssey notices',
      connectionTimeoutMillis: connectTimeoutMs,
      keepAlive: true,
    })
    client = opened
    opened.on('error', () => retry(opened))
    opened.on('end', () => retry(opened))
    opened.on('notification', onNotice)
    try {
      await opened.connect()
      await opened.query(`listen ${opened.escapeIdentifier(channel)}`)
      onNotice()
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
