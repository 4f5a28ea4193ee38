import { z } from 'zod'
import {
  createSink,
  listSinks,
  readSink,
  removeSink,
  testSink,
  updateSink,
  type Sink,
  type SinkState,
} from '../../../../alerts/audit-sinks/sinks.ts'
import { sinkFormats, sinkKinds } from '../../../../core/alert-topic.ts'
import { defineRoute, type Route } from '../../route.ts'
import { given, id, name, pageOf, pageQuery, time, toPage, toPageRequest, toTime, toTimeOrNull } from '../../schemas.ts'
import { auditChains, chainOf, type AuditChain } from './audit-chains.ts'

const sinkId = id('sink')
const pem = z.string().max(20_000).nullable().default(null)

const sink = z
  .strictObject({
    id: sinkId,
    kind: z.enum(sinkKinds),
    format: z.enum(sinkFormats),
    name: z.string(),
    target: z.string().describe('Without what may be as good as a password.'),
    isConfigured: z.boolean().describe('Whether it stands in the config file, and is changed there alone.'),
    createdAt: time,
    disabledAt: time.nullable().describe('Set by hand, or because the receiver answered 410: nothing is sent.'),
    failures: z.int().describe('Attempts in a row that failed; the next one waits the longer the more there were.'),
    lastError: z.string().nullable(),
    lastDeliveredAt: time.nullable(),
    givenUp: z
      .int()
      .describe(
        'Rows and checkpoints that are sent no more, since the receiver refused each alone as too large (413).',
      ),
    lastGivenUp: z.string().nullable().describe('The last one of them: its organization and its number in the audit.'),
  })
  .meta({ id: 'AuditSink' })

const sinkState = sink
  .extend({
    behind: z
      .strictObject({ rows: z.int(), oldestAt: time.nullable() })
      .describe('What it has yet to be given; nothing is counted while it is disabled.'),
  })
  .meta({ id: 'AuditSinkState' })

const newSink = z
  .strictObject({
    kind: z.enum(['webhook', 'syslog']),
    name,
    address: z.string().max(2_000).describe('https://… of a webhook, tls://host:6514 of syslog.'),
    format: z.enum(sinkFormats).default('json'),
    from: z.enum(['now', 'begin']).default('now').describe('`begin` sends the audit from its first row.'),
    header: z
      .strictObject({ name: z.string().max(100), value: z.string().max(4_000) })
      .nullable()
      .default(null)
      .describe('Of a webhook: how the receiver knows who sends, such as `authorization`.'),
    ca: pem.describe('Whom to trust in place of the usual authorities, in PEM.'),
    certificate: pem.describe('What to show of ourselves, in PEM, with privateKey.'),
    privateKey: pem,
  })
  .meta({ id: 'NewAuditSink' })

const made = z
  .strictObject({
    sink,
    secret: z.string().nullable().describe('Signs what a webhook is sent. It is not shown again.'),
  })
  .meta({ id: 'MadeAuditSink' })

function show({ createdAtMs, disabledAtMs, lastDeliveredAtMs, ...rest }: Sink): z.input<typeof sink> {
  const times = { createdAt: toTime(createdAtMs), disabledAt: toTimeOrNull(disabledAtMs) }
  const own = rest.id as z.input<typeof sinkId>
  return { ...rest, id: own, ...times, lastDeliveredAt: toTimeOrNull(lastDeliveredAtMs) }
}

function showState({ behind, ...rest }: SinkState): z.input<typeof sinkState> {
  return { ...show(rest), behind: { rows: behind.rows, oldestAt: toTimeOrNull(behind.oldestAtMs) } }
}

export const auditSinkRoutes: readonly Route[] = auditChains.flatMap((place) => [
  ...readingRoutes(place),
  ...changingRoutes(place),
  ...endingRoutes(place),
])

/** What a sink of the place is told, as the summaries say it. */
function toldTo({ scope, of }: AuditChain): string {
  return scope === 'installation' ? 'in the installation and every organization' : of
}

function pathOf({ path }: AuditChain): `/api/v1/${string}` {
  return `${path}-sinks`
}

function readingRoutes(place: AuditChain): readonly Route[] {
  const { scope, params } = place
  return [
    defineRoute({
      method: 'GET',
      path: pathOf(place),
      permission: 'audit-sinks:read',
      scope,
      summary: `List where what is done ${toldTo(place)} is pushed to`,
      params,
      query: pageQuery,
      answer: pageOf(sink),
      async work({ parts: { accounts }, principal, params: values, query }) {
        const request = { organizationId: chainOf(values), ...toPageRequest(query) }
        return toPage(await listSinks(accounts, principal, request), show)
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${pathOf(place)}/{sinkId}`,
      permission: 'audit-sinks:read',
      scope,
      summary: `Read a sink of what is done ${toldTo(place)}, and how far it is behind`,
      params: params.extend({ sinkId }),
      answer: sinkState,
      async work({ parts: { accounts }, principal, params: values }) {
        return showState(await readSink(accounts, principal, referenceOf(values)))
      },
    }),
  ]
}

function changingRoutes(place: AuditChain): readonly Route[] {
  const { scope, params } = place
  const permission = 'audit-sinks:update'
  return [
    defineRoute({
      method: 'POST',
      path: pathOf(place),
      permission,
      scope,
      needsProof: true,
      summary: `Have what is done ${toldTo(place)} pushed to a receiver`,
      params,
      body: newSink,
      example: { kind: 'webhook', name: 'SIEM', address: 'https://siem.example.com/in', format: 'ocsf' },
      answer: made,
      async work({ parts: { accounts, management }, principal, params: values, body }) {
        const organizationId = chainOf(values)
        const parts = { ...accounts, alertKey: management.alertKey }
        const { id: own, secret } = await createSink(parts, principal, { organizationId, ...body })
        const { behind: _, ...created } = await readSink(accounts, principal, { organizationId, id: own })
        return { sink: show(created), secret }
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: `${pathOf(place)}/{sinkId}`,
      permission,
      scope,
      summary: `Rename a sink of what is done ${toldTo(place)}, or disable or enable it`,
      params: params.extend({ sinkId }),
      body: z.strictObject({ name: name.optional(), isEnabled: z.boolean().optional() }),
      example: { name: 'SIEM of the night' },
      answer: sinkState,
      async work({ parts: { accounts }, principal, params: values, body }) {
        const reference = referenceOf(values)
        await updateSink(accounts, principal, { ...reference, ...given(body) })
        return showState(await readSink(accounts, principal, reference))
      },
    }),
  ]
}

/** To remove a sink, and to try it. */
function endingRoutes(place: AuditChain): readonly Route[] {
  const { scope, params } = place
  const permission = 'audit-sinks:update'
  return [
    defineRoute({
      method: 'DELETE',
      path: `${pathOf(place)}/{sinkId}`,
      permission,
      scope,
      summary: `Remove a sink of what is done ${toldTo(place)}`,
      params: params.extend({ sinkId }),
      answer: 'nothing',
      work: ({ parts: { accounts }, principal, params: values }) =>
        removeSink(accounts, principal, referenceOf(values)),
    }),
    defineRoute({
      method: 'POST',
      path: `${pathOf(place)}/{sinkId}/test`,
      permission,
      scope,
      summary: `Leave a row for a sink of what is done ${toldTo(place)}, to see it arrive`,
      params: params.extend({ sinkId }),
      answer: 'nothing',
      work: ({ parts: { accounts }, principal, params: values }) => testSink(accounts, principal, referenceOf(values)),
    }),
  ]
}

function referenceOf(values: Readonly<Record<string, unknown>>) {
  return { organizationId: chainOf(values), id: String(values['sinkId']) }
}
