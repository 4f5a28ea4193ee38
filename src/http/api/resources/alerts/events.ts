import { z } from 'zod'
import { listEvents, type AlertEvent } from '../../../../alerts/read-events.ts'
import { alertTopics, usageTopics } from '../../../../core/alert-topic.ts'
import { decodeNumbers, encodeCursor } from '../../cursor.ts'
import { defineRoute, type Route } from '../../route.ts'
import { pageOf, pageQuery, time, toTime } from '../../schemas.ts'
import { chainOf } from '../audit/audit-chains.ts'
import { alertScopes } from './alert-scopes.ts'

const event = z
  .strictObject({
    id: z.string(),
    at: time,
    topic: z.enum(alertTopics),
    isSilenced: z.boolean().describe('Whether a silence kept it from being delivered.'),
    data: z.unknown().describe('What a webhook is sent of it.'),
  })
  .meta({ id: 'AlertEvent' })

/** Those that come with every request or hour are in the ledger and in the sums. */
const told = alertTopics.filter((topic) => !usageTopics.includes(topic))

function show({ id, atMs, topic, isSilenced, data }: AlertEvent): z.input<typeof event>[] {
  const known = told.find((one) => one === topic)
  return known === undefined ? [] : [{ id, at: toTime(atMs), topic: known, isSilenced, data }]
}

export const alertEventRoutes: readonly Route[] = alertScopes.map(({ path, scope, params, of }) =>
  defineRoute({
    method: 'GET',
    path: `${path}/alert-events`,
    permission: 'alerts:read',
    scope,
    summary: `List what was told of ${of}, newest first, for the thirty days that it is kept`,
    params,
    query: pageQuery,
    answer: pageOf(event),
    async work({ parts: { accounts }, principal, params: values, query: { limit, after } }) {
      const beforeSequence = after === undefined ? null : (decodeNumbers(after, 1)[0] ?? 0)
      const search = { organizationId: chainOf(values), topics: told, beforeSequence, limit: limit + 1 }
      const found = await listEvents(accounts, principal, search)
      const last = found.length > limit ? found[limit - 1] : undefined
      const next = last === undefined ? null : encodeCursor(last.sequence)
      return { data: found.slice(0, limit).flatMap(show), next }
    },
  }),
)
