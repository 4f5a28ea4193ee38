import { z } from 'zod'
import { createSilence, listSilences, removeSilence, type Silence } from '../../../../alerts/silences.ts'
import { alertTopics } from '../../../../core/alert-topic.ts'
import { defineRoute, type Route } from '../../route.ts'
import { givenTime, id, name, time, toTime } from '../../schemas.ts'
import { chainOf } from '../audit/audit-chains.ts'
import { alertScopes, type AlertScope } from './alert-scopes.ts'

const silenceId = id('silence')
const topic = z.enum(alertTopics).nullable().describe('Null is everything.')

const silence = z
  .strictObject({ id: silenceId, topic, from: time, until: time, reason: z.string() })
  .meta({ id: 'AlertSilence' })

const newSilence = z
  .strictObject({
    topic: topic.default(null),
    from: givenTime.optional().describe('Left out, now.'),
    until: givenTime.describe('At most 30 days later.'),
    reason: name,
  })
  .meta({ id: 'NewAlertSilence' })

function show({ id: own, fromMs, untilMs, ...rest }: Silence): z.input<typeof silence> {
  return { ...rest, id: own as z.input<typeof silenceId>, from: toTime(fromMs), until: toTime(untilMs) }
}

export const silenceRoutes: readonly Route[] = alertScopes.flatMap(routesOf)

function routesOf({ path, scope, params, of }: AlertScope): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${path}/alert-silences`,
      permission: 'alert-channels:read',
      scope,
      summary: `List the silences of ${of} that are not over`,
      params,
      answer: z.strictObject({ data: z.array(silence) }),
      async work({ parts: { accounts }, principal, params: values }) {
        return { data: (await listSilences(accounts, principal, chainOf(values))).map(show) }
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/alert-silences`,
      permission: 'alert-channels:update',
      scope,
      summary: `Have alerts of ${of} not delivered for a time`,
      params,
      body: newSilence,
      example: {
        topic: 'budget.threshold',
        from: '2099-01-01T00:00:00Z',
        until: '2099-01-02T00:00:00Z',
        reason: 'known',
      },
      answer: silence,
      async work({ parts: { accounts }, principal, params: values, body: { from, until, ...rest } }) {
        const fromMs = from === undefined ? accounts.clock.nowMs() : Date.parse(from)
        const wanted = { ...rest, organizationId: chainOf(values), fromMs, untilMs: Date.parse(until) }
        return show(await createSilence(accounts, principal, wanted))
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: `${path}/alert-silences/{silenceId}`,
      permission: 'alert-channels:update',
      scope,
      summary: `End a silence of ${of}`,
      params: z.strictObject({ ...params.shape, silenceId }),
      answer: 'nothing',
      work: ({ parts: { accounts }, principal, params: values }) =>
        removeSilence(accounts, principal, { organizationId: chainOf(values), id: values.silenceId }),
    }),
  ]
}
