import { ApiError } from '../../../core/error.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { nowhere } from '../schemas.ts'
import type { Session } from '../../../accounts/sign-in/sessions.ts'
import type { OrganizationId } from '../../../core/ids.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { EventHub, EventTopic, Reader } from './event-hub.ts'
import { Standing } from './standing.ts'

/** The tabs of a browser share one. A page that is loaded anew begins another up to a second before the last one ends. */
const streamsPerReaderMax = 4
const streamsMax = 500
const retryAfterMs = 15_000

/** Throws where a reader, or all of them together, have as many streams as they may. */
export function requireRoom(hub: EventHub, { name }: Reader): void {
  if (hub.streamsOf(name) < streamsPerReaderMax && hub.size < streamsMax) return
  throw new ApiError({ code: 'rate-limited', retryAfterMs }, 'Too many of these streams are open.')
}

export const eventRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/events',
    permission: 'self',
    scope: 'own',
    summary: 'Hear of what has changed, as server-sent events that name what to read again and carry none of it',
    params: nowhere,
    answer: 'events',
    work({ parts }) {
      const { session, events: hub, management } = parts
      if (session === null) throw new ApiError({ code: 'unauthenticated', key: null }, 'Sign in.')
      requireRoom(hub, readerOf(session))
      return Promise.resolve(followEvents({ ...parts, hub, clock: management.accounts.clock, session }))
    },
  }),
]

function readerOf({ id }: Session): Reader {
  return { name: id, sessionId: id }
}

/** What every stream without an end stands on. */
export type StreamParts = Pick<RouteParts, 'isSameAsker' | 'isStopping' | 'hasLeft'> & {
  readonly hub: EventHub
  readonly clock: Clock
}

/** Says nothing for this long, and proxies give up. */
export const heartbeatMs = 15_000
/** How soon a stream notices that its session is over or the service stops. */
export const lookMs = 1_000
/** A browser that was cut off comes back this soon. */
const retryMs = 2_000
/** Whatever changed while nobody listened is unknown, so everything is read again. */
export const beginning = `retry: ${retryMs}\nevent: begin\ndata: {}\n\n`
export const heartbeat = ': here\n\n'

/**
 * Tells a browser what has changed, without the data: it reads again what it shows.
 *
 * What comes while it reads slowly is told together, so that a reader that stands still holds nothing in memory. Who has
 * been given another role or none is told nothing more: the stream ends, and the next one begins with their new part.
 */
export async function* followEvents(following: StreamParts & { readonly session: Session }): AsyncGenerator<string> {
  const { hub, clock, session } = following
  const pending = new Map<OrganizationId | null, Set<EventTopic>>()
  const isOwn = new Set(session.memberships.map(({ organizationId }) => organizationId))
  const standing = new Standing({ ...following, sessionId: session.id })
  const unsubscribe = hub.subscribe(readerOf(session), (topic, organizationId) => {
    standing.hear(topic)
    if (organizationId !== null && !isOwn.has(organizationId)) return
    pending.set(organizationId, (pending.get(organizationId) ?? new Set()).add(topic))
  })
  let saidMs = clock.monotonicMs()
  try {
    yield beginning
    for (;;) {
      await new Promise<void>((resolve) => void clock.after(lookMs, resolve))
      // Whoever has left would otherwise be counted as there until the next heartbeat, which cannot be sent.
      if (following.hasLeft() || following.isStopping() || !(await standing.isSame())) return
      const told = [...pending].map(([organizationId, topics]) => ({ organizationId, topics: [...topics] }))
      pending.clear()
      if (told.length > 0) yield told.map((data) => `event: changed\ndata: ${JSON.stringify(data)}\n\n`).join('')
      else if (clock.monotonicMs() - saidMs >= heartbeatMs) yield heartbeat
      else continue
      saidMs = clock.monotonicMs()
    }
  } finally {
    unsubscribe()
  }
}
