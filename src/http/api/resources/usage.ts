import { z } from 'zod'
import { tagKeyPattern } from '../../../accounts/organization-settings.ts'
import type { EndUserHash } from '../../../billing/attribution/attribute.ts'
import { readUsage, type UsageRow } from '../../../billing/usage/query-usage.ts'
import type { AttributedTo } from '../../../billing/usage/select-usage.ts'
import { InvalidCursor } from '../../../billing/usage/usage-cursor.ts'
import { dayMs, hourMs } from '../../../billing/usage/usage-columns.ts'
import type { OrganizationId } from '../../../core/ids.ts'
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

const named = z.array(z.string().min(1).max(512)).max(50).optional()

/** What queries of usage may ask of end users and tags. */
export const attributionFields = {
  user: named.describe('End users, by the names that clients gave them or as they are kept.'),
  tagKey: z
    .string()
    .regex(tagKeyPattern)
    .optional()
    .describe('The key of a tag; by itself it stands for all requests that have one.'),
  tag: named.describe('Values of the tag.'),
}

type Asked = {
  readonly groupBy?: string | undefined
  readonly user?: readonly string[] | undefined
  readonly tagKey?: string | undefined
  readonly tag?: readonly string[] | undefined
}

/** Of whom usage is asked for; null where it is asked of everybody. */
export function readAttribution(
  { groupBy, user, tagKey, tag }: Asked,
  organizationId: OrganizationId,
  hash: EndUserHash,
): AttributedTo | null {
  const isOfUsers = user !== undefined || groupBy === 'user'
  const isOfTags = tagKey !== undefined || tag !== undefined || groupBy === 'tag'
  if (isOfTags && tagKey === undefined) fail('tagKey', 'This has to name the tag.')
  if (isOfUsers && isOfTags) fail('tagKey', 'Usage is summed up by end user or by one tag, not by both.')
  if (isOfUsers) {
    // Whoever asks knows the name, whatever is kept of it.
    const values = user?.flatMap((name) => [name, hash(organizationId, name)])
    return { dimension: 'user', ...(values !== undefined && { values }) }
  }
  return isOfTags ? { dimension: `tag:${tagKey ?? ''}`, ...(tag !== undefined && { values: tag }) } : null
}

function fail(path: string, message: string): never {
  throw new InvalidFields([{ path, message }])
}

/** Groups by end user and by tag are groups by whom requests are attributed to. */
export function toGrouping<GroupBy extends string>(
  groupBy: GroupBy | undefined,
): Exclude<GroupBy, 'user' | 'tag'> | 'attribution' | null {
  if (groupBy === undefined) return null
  return groupBy === 'user' || groupBy === 'tag' ? 'attribution' : (groupBy as Exclude<GroupBy, 'user' | 'tag'>)
}

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
