import { ApiError } from '../../../core/error.ts'
import { defineRoute, type Route } from '../route.ts'
import { nowhere } from '../schemas.ts'
import type { Session } from '../../../accounts/sign-in/sessions.ts'
import type { OrganizationId } from '../../../core/ids.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { EventHub, EventTopic } from './event-hub.ts'

/** The tabs of a browser share one. A page that is loaded anew begins another up to a second before the last one ends. */
const streamsPerSessionMax = 4
const streamsMax = 500
const retryAfterMs = 15_000

export const eventRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/events',
    permission: 'self',
    scope: 'own',
    summary: 'Hear of what has changed, as server-sent events that name what to read again and carry none of it',
    params: nowhere,
    answer: 'events',
    work({ parts: { session, browser, management, events, isStopping, hasLeft } }) {
      if (session === null) throw new ApiError({ code: 'unauthenticated', key: null }, 'Sign in.')
      if (events.streamsOf(session.id) >= streamsPerSessionMax || events.size >= streamsMax) {
        throw new ApiError({ code: 'rate-limited', retryAfterMs }, 'Too many of these streams are open.')
      }
      const findSession = () => browser.findSession(management, { keepsAwake: false })
      const { clock } = management.accounts
      return Promise.resolve(followEvents({ hub: events, clock, session, findSession, isStopping, hasLeft }))
    },
  }),
]

type Following = {
  readonly hub: EventHub
  readonly clock: Clock
  readonly session: Session
  /** Finds the session anew; null when it is over. */
  findSession(): Promise<Session | null>
  isStopping(): boolean
  /** Whether the reader's connection is gone. */
  hasLeft(): boolean
}

/** Says nothing for this long, and proxies give up. */
const heartbeatMs = 15_000
/** How soon a stream notices that its session is over or the service stops. */
const lookMs = 1_000
/** A browser that was cut off comes back this soon. */
const retryMs = 2_000

/**
 * Tells a browser what has changed, without the data: it reads again what it shows.
 *
 * What comes while it reads slowly is told together, so that a reader that stands still holds nothing in memory. Who has
 * been given another role or none is told nothing more: the stream ends, and the next one begins with their new part.
 */
export async function* followEvents(following: Following): AsyncGenerator<string> {
  const { hub, clock, session } = following
  const pending = new Map<OrganizationId | null, Set<EventTopic>>()
  const isOwn = new Set(session.memberships.map(({ organizationId }) => organizationId))
  const unsubscribe = hub.subscribe(session.id, (topic, organizationId) => {
    if (organizationId !== null && !isOwn.has(organizationId)) return
    pending.set(organizationId, (pending.get(organizationId) ?? new Set()).add(topic))
  })
  let saidMs = clock.monotonicMs()
  try {
    // Whatever changed while nobody listened is unknown, so everything is read again.
    yield `retry: ${retryMs}\nevent: begin\ndata: {}\n\n`
    for (;;) {
      await new Promise<void>((resolve) => void clock.after(lookMs, resolve))
      // Whoever has left would otherwise be counted as there until the next heartbeat, which cannot be sent.
      if (following.hasLeft() || following.isStopping() || !isSame(session, await following.findSession())) return
      const told = [...pending].map(([organizationId, topics]) => ({ organizationId, topics: [...topics] }))
      pending.clear()
      if (told.length > 0) yield told.map((data) => `event: changed\ndata: ${JSON.stringify(data)}\n\n`).join('')
      else if (clock.monotonicMs() - saidMs >= heartbeatMs) yield ': here\n\n'
      else continue
      saidMs = clock.monotonicMs()
    }
  } finally {
    unsubscribe()
  }
}

/** Whether somebody still has the part in which the stream began. */
function isSame(before: Session, now: Session | null): boolean {
  if (now === null) return false
  const part = ({ principal, memberships }: Session) =>
    JSON.stringify([principal.role, memberships.map((member) => member.principal)])
  return part(before) === part(now)
}
