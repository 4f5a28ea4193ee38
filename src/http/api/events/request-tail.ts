import { z } from 'zod'
import type { LedgerFilter } from '../../../billing/ledger/ledger-filter.ts'
import { readAdded } from '../../../billing/ledger/read-ledger.ts'
import { lastSettled } from '../../../billing/usage/last-settled.ts'
import { narrowProjects } from '../../../core/permission.ts'
import type { Principal } from '../../../core/principal.ts'
import { actorOf } from '../../../db/change.ts'
import type { Database } from '../../../db/database.ts'
import { ledgerFilter, showEntry, toFilter } from '../resources/ledger.ts'
import { defineRoute, type Route } from '../route.ts'
import { inOrganization } from '../schemas.ts'
import type { Reader } from './event-hub.ts'
import { beginning, heartbeat, heartbeatMs, lookMs, requireRoom, type StreamParts } from './event-routes.ts'
import { Standing } from './standing.ts'

/** Nobody reads more of them as they pass; how many were left out is said. */
const rowsPerLookMax = 20

const seconds = z
  .int()
  .min(0)
  .max(86_400)
  .optional()
  .describe('How long to follow; without it until the reader leaves.')

export const requestTailRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/requests/tail',
    permission: 'requests:read',
    scope: 'organization',
    summary: 'Follow the ledger’s rows as they are settled, as server-sent events, up to 20 a second',
    params: inOrganization,
    query: ledgerFilter.extend({ seconds }),
    answer: 'events',
    work({ parts, principal, params, query: { seconds: lasts, ...asked } }) {
      const { events: hub, session, management } = parts
      const { db, clock } = management.accounts
      // Beside the changes that the same browser hears of.
      const reader: Reader = {
        name: `requests of ${session?.id ?? actorOf(principal)}`,
        sessionId: session?.id ?? null,
      }
      requireRoom(hub, reader)
      const endMs = lasts === undefined ? Infinity : clock.monotonicMs() + lasts * 1_000
      const filter = toFilter(params.organizationId, asked)
      return Promise.resolve(followRequests({ ...parts, hub, clock, db, reader, principal, filter, endMs }))
    },
  }),
]

export type Tail = StreamParts & {
  readonly db: Database
  readonly reader: Reader
  readonly principal: Principal
  readonly filter: LedgerFilter
  /** By the clock that never goes back. */
  readonly endMs: number
}

/**
 * Tells of requests as they are settled, the newest last, with what the list of requests has of them.
 *
 * A look that finds nothing new costs no question to the database, and readers who follow the same share one. What came
 * while somebody read slowly is passed over but for the newest.
 */
export async function* followRequests(tail: Tail): AsyncGenerator<string> {
  const { hub, clock, filter, reader, endMs } = tail
  const standing = new Standing({ ...tail, sessionId: reader.sessionId })
  let isNew = false
  const unsubscribe = hub.subscribe(reader, (topic, organizationId) => {
    standing.hear(topic)
    if (topic === 'requests' && organizationId === filter.organizationId) isNew = true
  })
  try {
    let last = await lastSettled(tail.db)
    let saidMs = clock.monotonicMs()
    yield beginning
    for (;;) {
      const pauseMs = Math.min(lookMs, endMs - clock.monotonicMs())
      if (pauseMs <= 0) return
      await new Promise<void>((resolve) => void clock.after(pauseMs, resolve))
      if (tail.hasLeft() || tail.isStopping() || !(await standing.isSame())) return
      const upTo = hub.lastSequence ?? last
      const isToRead = isNew && upTo > last
      // What is told of while this is read is for the next look.
      isNew = false
      const told = isToRead ? await readNews(tail, last, upTo) : ''
      last = Math.max(last, upTo)
      if (told !== '') yield told
      else if (clock.monotonicMs() - saidMs >= heartbeatMs) yield heartbeat
      else continue
      saidMs = clock.monotonicMs()
    }
  } finally {
    unsubscribe()
  }
}

function readNews({ hub, db, principal, filter }: Tail, afterSequence: number, toSequence: number): Promise<string> {
  const search = { ...filter, afterSequence, toSequence, limit: rowsPerLookMax }
  const projectIds = narrowProjects(principal, 'requests:read', filter) ?? null
  return hub.share(JSON.stringify([projectIds, search]), async () => {
    const { rows, count } = await readAdded(db, principal, search)
    const events = rows.toReversed().map((row) => eventOf('request', showEntry(row)))
    if (count > rows.length) events.unshift(eventOf('dropped', { dropped: count - rows.length }))
    return events.join('')
  })
}

function eventOf(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
}
