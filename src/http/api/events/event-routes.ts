import { ApiError } from '../../../core/error.ts'
import { defineRoute, type Route } from '../route.ts'
import { nowhere } from '../schemas.ts'
import { followEvents } from './follow-events.ts'

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
    work({ parts: { session, browser, management, events, isStopping } }) {
      if (session === null) throw new ApiError({ code: 'unauthenticated', key: null }, 'Sign in.')
      if (events.streamsOf(session.id) >= streamsPerSessionMax || events.size >= streamsMax) {
        throw new ApiError({ code: 'rate-limited', retryAfterMs }, 'Too many of these streams are open.')
      }
      const findSession = () => browser.findSession(management, { keepsAwake: false })
      const { clock } = management.accounts
      return Promise.resolve(followEvents({ hub: events, clock, session, findSession, isStopping }))
    },
  }),
]
