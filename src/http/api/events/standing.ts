import type { SessionId } from '../../../core/ids.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { EventHub, EventTopic } from './event-hub.ts'

/** What depends on the time alone, as a role that is given for an hour, is noticed this late at most. */
const askEveryMs = 15_000

type StandingParts = {
  readonly hub: Pick<EventHub, 'hasEnded'>
  readonly clock: Clock
  /** The session that the stream was opened in; null for keys. */
  readonly sessionId: SessionId | null
  /** Asks the database anew. */
  isSameAsker(): Promise<boolean>
}

/**
 * Whether somebody still has the part in which their stream began.
 *
 * The database is asked when somebody's part was changed anywhere, and now and then: to ask it every second for each
 * reader costs the service more than everything else that it does for them.
 */
export class Standing {
  readonly #parts: StandingParts
  /** What was changed while the stream began is not known, so the first look asks. */
  #isChanged = true
  #askedMs: number

  constructor(parts: StandingParts) {
    this.#parts = parts
    this.#askedMs = parts.clock.monotonicMs()
  }

  hear(topic: EventTopic): void {
    if (topic === 'access') this.#isChanged = true
  }

  async isSame(): Promise<boolean> {
    const { hub, clock, sessionId } = this.#parts
    if (sessionId !== null && hub.hasEnded(sessionId)) return false
    if (!this.#isChanged && clock.monotonicMs() - this.#askedMs < askEveryMs) return true
    this.#isChanged = false
    this.#askedMs = clock.monotonicMs()
    return this.#parts.isSameAsker()
  }
}
