import { lastSettled } from '../../../billing/usage/last-settled.ts'
import { findOpenSessions } from '../../../accounts/sign-in/sessions.ts'
import type { SignInSettings } from '../../../accounts/sign-in/parts.ts'
import type { OrganizationId, SessionId } from '../../../core/ids.ts'
import type { ChangeFeed } from '../../../db/change-feed.ts'
import type { Database } from '../../../db/database.ts'
import { topics as changeTopics, type Topic } from '../../../db/tables/changes.ts'
import { nowAndEvery, type Clock } from '../../../lib/clock.ts'

/** What is told of: a topic of the change feed, or that requests were settled. */
export type EventTopic = Topic | 'requests'

/** Hears of a topic; of requests also whose they were, of the rest only that something has changed. */
export type HearEvent = (topic: EventTopic, organizationId: OrganizationId | null) => void

/** Who reads a stream. */
export type Reader = {
  /** What the streams are counted by that one reader may have open. */
  readonly name: string
  /** The session in which it was opened; null for keys. */
  readonly sessionId: SessionId | null
}

type HubParts = {
  readonly db: Database
  readonly clock: Clock
  readonly feed: Pick<ChangeFeed, 'subscribe'>
  readonly signIn: SignInSettings
}

/** The database is looked at this often, and only while somebody listens: once for all readers of a gateway. */
const lookEveryMs = 1_000

/** Tells readers in browsers that something has changed, wherever it was changed: by this gateway or another one. */
export class EventHub {
  readonly #parts: HubParts
  readonly #readers = new Map<HearEvent, Reader>()
  readonly #counters = new Map<Topic, number>()
  #stop: (() => void) | null = null
  #sequence: number | null = null
  #ended: ReadonlySet<SessionId> = new Set()
  /** What was read since the last look, which readers who ask for the same share. */
  readonly #shared = new Map<string, Promise<unknown>>()

  constructor(parts: HubParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#readers.size
  }

  /** How many streams a reader has open. */
  streamsOf(name: string): number {
    return [...this.#readers.values()].filter((reader) => reader.name === name).length
  }

  /** The ledger's last row of those that were told of; null before the first look. */
  get lastSequence(): number | null {
    return this.#sequence
  }

  /** Whether a reader's session was over when it was last looked for. */
  hasEnded(sessionId: SessionId): boolean {
    return this.#ended.has(sessionId)
  }

  /** Reads what others may ask for as well before the next look: under one name it is read once. */
  share<Result>(name: string, read: () => Promise<Result>): Promise<Result> {
    const known = this.#shared.get(name) as Promise<Result> | undefined
    if (known !== undefined) return known
    const reading = read()
    this.#shared.set(name, reading)
    return reading
  }

  /** Returns the way to stop. */
  subscribe(reader: Reader, hear: HearEvent): () => void {
    this.#readers.set(hear, reader)
    this.#stop ??= this.#begin()
    return () => {
      this.#readers.delete(hear)
      if (this.#readers.size > 0) return
      this.#stop?.()
      this.#stop = null
      this.#sequence = null
      this.#shared.clear()
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
    const stopLooking = nowAndEvery(clock, lookEveryMs, () => this.#look())
    return () => {
      for (const stop of unsubscribe) stop()
      void stopLooking()
    }
  }

  async #look(): Promise<void> {
    try {
      await this.#lookAtSessions()
      await this.#lookAtLedger()
    } catch {
      // While the database is away nothing is settled; the next look tells of all that was.
    }
  }

  async #lookAtSessions(): Promise<void> {
    const ids = [...new Set([...this.#readers.values()].flatMap(({ sessionId }) => sessionId ?? []))]
    const open = await findOpenSessions(this.#parts, ids)
    this.#ended = new Set(ids.filter((id) => !open.has(id)))
  }

  async #lookAtLedger(): Promise<void> {
    const { db } = this.#parts
    const before = this.#sequence
    const last = await lastSettled(db)
    if (before === null || last <= before) {
      this.#sequence = Math.max(before ?? 0, last)
      return
    }
    const rows = await db
      .selectFrom('ledger')
      .select('organization_id')
      .distinct()
      .where('sequence', '>', before)
      .where('sequence', '<=', last)
      .execute()
    this.#shared.clear()
    // Whoever reads up to it has been told by then whether there is anything of theirs.
    this.#sequence = last
    for (const { organization_id: id } of rows) this.#tell('requests', id)
  }

  #tell(topic: EventTopic, organizationId: OrganizationId | null): void {
    for (const hear of this.#readers.keys()) hear(topic, organizationId)
  }
}
