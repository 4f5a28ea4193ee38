import { z } from 'zod'
import {
  createChannel,
  listChannels,
  readChannel,
  removeChannel,
  testChannel,
  updateChannel,
  type Channel,
} from '../../../../alerts/channels.ts'
import { alertTopics, channelKinds } from '../../../../core/alert-topic.ts'
import { defineRoute, type Route } from '../../route.ts'
import { given, id, name, pageOf, pageQuery, time, toPage, toPageRequest, toTime, toTimeOrNull } from '../../schemas.ts'
import { chainOf } from '../audit/audit-chains.ts'
import { alertScopes, type AlertScope } from './alert-scopes.ts'

const channelId = id('chan')
const topics = z.array(z.enum(alertTopics)).min(1).max(alertTopics.length)

const channel = z
  .strictObject({
    id: channelId,
    kind: z.enum(channelKinds),
    name: z.string(),
    target: z
      .string()
      .describe('Scheme and host of a webhook: the rest is often as good as a password. The address of a recipient.'),
    topics: topics.describe('What it is told of.'),
    createdAt: time,
    disabledAt: time
      .nullable()
      .describe('Set by hand, or because the receiver answered 410, or there is no such mailbox: nothing is sent.'),
    failures: z.int().describe('Attempts in a row that failed; the next one waits the longer the more there were.'),
    lastError: z.string().nullable(),
    lastDeliveredAt: time.nullable(),
    givenUp: z
      .int()
      .describe('Events that are sent no more, since the receiver refused each alone as too large (413).'),
    lastGivenUp: z.string().nullable().describe('The last one of them.'),
  })
  .meta({ id: 'AlertChannel' })

const newChannel = z
  .strictObject({
    kind: z.enum(channelKinds),
    name,
    address: z
      .string()
      .max(2_000)
      .nullable()
      .default(null)
      .describe('Of a webhook, with http or https; of a channel by e-mail, one address.'),
    topics,
  })
  .meta({ id: 'NewAlertChannel' })

const made = z
  .strictObject({
    channel,
    secret: z.string().nullable().describe('Signs what is sent, as Standard Webhooks have it. It is not shown again.'),
  })
  .meta({ id: 'MadeAlertChannel' })

function show({ createdAtMs, disabledAtMs, lastDeliveredAtMs, ...rest }: Channel): z.input<typeof channel> {
  const times = { createdAt: toTime(createdAtMs), disabledAt: toTimeOrNull(disabledAtMs) }
  const own = rest.id as z.input<typeof channelId>
  return { ...rest, id: own, topics: [...rest.topics], ...times, lastDeliveredAt: toTimeOrNull(lastDeliveredAtMs) }
}

export const channelRoutes: readonly Route[] = alertScopes.flatMap((place) => [
  ...readingRoutes(place),
  ...changingRoutes(place),
  ...endingRoutes(place),
])

function readingRoutes({ path, scope, params, of }: AlertScope): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: `${path}/alert-channels`,
      permission: 'alert-channels:read',
      scope,
      summary: `List the channels over which alerts of ${of} go`,
      params,
      query: pageQuery,
      answer: pageOf(channel),
      async work({ parts: { accounts }, principal, params: values, query }) {
        const request = { organizationId: chainOf(values), ...toPageRequest(query) }
        return toPage(await listChannels(accounts, principal, request), show)
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/alert-channels/{channelId}`,
      permission: 'alert-channels:read',
      scope,
      summary: `Read a channel of ${of}, and what became of the last delivery`,
      params: z.strictObject({ ...params.shape, channelId }),
      answer: channel,
      async work({ parts: { accounts }, principal, params: values }) {
        return show(await readChannel(accounts, principal, { organizationId: chainOf(values), id: values.channelId }))
      },
    }),
  ]
}

function changingRoutes({ path, scope, params, of }: AlertScope): readonly Route[] {
  const one = z.strictObject({ ...params.shape, channelId })
  const permission = 'alert-channels:update'
  return [
    defineRoute({
      method: 'POST',
      path: `${path}/alert-channels`,
      permission,
      scope,
      summary: `Make a channel for alerts of ${of}`,
      params,
      body: newChannel,
      example: {
        kind: 'webhook',
        name: 'On call',
        address: 'https://hooks.example.com/a',
        topics: ['budget.threshold'],
      },
      answer: made,
      async work({ parts: { accounts, management }, principal, params: values, body }) {
        const organizationId = chainOf(values)
        const parts = { ...accounts, alertKey: management.alertKey, mail: management.mail }
        const { id: own, secret } = await createChannel(parts, principal, { organizationId, ...body })
        return { channel: show(await readChannel(accounts, principal, { organizationId, id: own })), secret }
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: `${path}/alert-channels/{channelId}`,
      permission,
      scope,
      summary: `Change what a channel of ${of} is told, or whether it is told anything`,
      params: one,
      body: z.strictObject({ name: name.optional(), topics: topics.optional(), isEnabled: z.boolean().optional() }),
      example: { name: 'Night shift' },
      answer: channel,
      async work({ parts: { accounts }, principal, params: values, body }) {
        const reference = { organizationId: chainOf(values), id: values.channelId }
        await updateChannel(accounts, principal, { ...reference, ...given(body) })
        return show(await readChannel(accounts, principal, reference))
      },
    }),
  ]
}

/** To remove a channel, and to try it. */
function endingRoutes({ path, scope, params, of }: AlertScope): readonly Route[] {
  const one = z.strictObject({ ...params.shape, channelId })
  const permission = 'alert-channels:update'
  return [
    defineRoute({
      method: 'DELETE',
      path: `${path}/alert-channels/{channelId}`,
      permission,
      scope,
      summary: `Remove a channel of ${of}`,
      params: one,
      answer: 'nothing',
      work: ({ parts: { accounts }, principal, params: values }) =>
        removeChannel(accounts, principal, { organizationId: chainOf(values), id: values.channelId }),
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/alert-channels/{channelId}/test`,
      permission,
      scope,
      summary: `Send a message over a channel of ${of}, to see it arrive`,
      params: one,
      answer: 'nothing',
      work: ({ parts: { accounts }, principal, params: values }) =>
        testChannel(accounts, principal, { organizationId: chainOf(values), id: values.channelId }),
    }),
  ]
}
