import { z } from 'zod'
import { InvalidCursor, readUsage, type UsageRow } from '../../../billing/usage/query-usage.ts'
import { dayMs, hourMs } from '../../../billing/usage/usage-columns.ts'
import { toMicrosText } from '../../../core/money.ts'
import { noCursor } from '../cursor.ts'
import { InvalidFields } from '../problem.ts'
import { defineRoute, type Route } from '../route.ts'
import {
  apiKeyId,
  costMicros,
  given,
  givenTime,
  inOrganization,
  model,
  pageOf,
  pageQuery,
  projectId,
  time,
  toTimeOrNull,
} from '../schemas.ts'
import { attributionFields, readAttribution, toGrouping } from './usage-attribution.ts'

const usage = z
  .strictObject({
    startsAt: time.nullable().describe('The hour or day; null where the whole time is one.'),
    group: z
      .string()
      .nullable()
      .describe(
        'The key, project, model, end user or tag, empty for requests without one; null where nothing is grouped.',
      ),
    requests: z.int(),
    finished: z.int(),
    aborted: z.int(),
    failed: z.int(),
    reversed: z.int(),
    unpriced: z.int().describe('Requests for which there was no price.'),
    tokens: z.strictObject({
      inputUncached: z.int(),
      inputCacheRead: z.int(),
      inputCacheWrite: z.int(),
      inputCacheWriteLong: z.int().describe('The part of inputCacheWrite that is kept for an hour.'),
      output: z.int(),
      outputThinking: z.int().describe('The part of output spent on thinking.'),
    }),
    costMicros,
  })
  .meta({ id: 'Usage' })

const query = pageQuery.extend({
  from: givenTime.optional().describe('A whole hour; thirty days ago where it is not given.'),
  to: givenTime.optional().describe('A whole hour, which is left out; now where it is not given.'),
  bucket: z.enum(['hour', 'day', 'whole']).default('day').describe('Hours and days are those of UTC.'),
  groupBy: z.enum(['key', 'project', 'model', 'user', 'tag']).optional(),
  projectId: z.array(projectId).max(50).optional(),
  apiKeyId: z.array(apiKeyId).max(50).optional(),
  model: z.array(model).max(50).optional(),
  ...attributionFields,
})

const rangeMsDefault = 30 * dayMs

function show({ startMs, usage: tokens, costPicos, ...rest }: UsageRow): z.input<typeof usage> {
  return { ...rest, startsAt: toTimeOrNull(startMs), tokens, costMicros: toMicrosText(costPicos) }
}

/** A whole hour, by which usage is kept; null where none is given. */
export function readHour(field: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const ms = Date.parse(text)
  if (ms % hourMs === 0) return ms
  throw new InvalidFields([{ path: field, message: 'Usage is kept by the hour: this must be a whole one.' }])
}

export const usageRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/usage',
    permission: 'usage:read',
    scope: 'organization',
    summary: 'Sum up requests, tokens and cost by the hour or day, by key, project, model, end user or tag',
    params: inOrganization,
    query,
    answer: pageOf(usage),
    async work({ parts, principal, params: { organizationId }, query: asked }) {
      const nowMs = parts.accounts.clock.nowMs()
      const attributed = readAttribution(asked, organizationId, parts.management.hashEndUser)
      const filter = given({ projectIds: asked.projectId, apiKeyIds: asked.apiKeyId, models: asked.model })
      try {
        const { rows, nextCursor } = await readUsage(parts.accounts.db, principal, {
          organizationId,
          ...filter,
          ...(attributed !== null && { attributed }),
          fromMs: readHour('from', asked.from) ?? Math.floor((nowMs - rangeMsDefault) / dayMs) * dayMs,
          toMs: readHour('to', asked.to),
          bucket: asked.bucket,
          groupBy: toGrouping(asked.groupBy),
          limit: asked.limit,
          cursor: asked.after ?? null,
        })
        return { data: rows.map(show), next: nextCursor }
      } catch (error) {
        if (error instanceof InvalidCursor) throw noCursor()
        throw error
      }
    },
  }),
]
