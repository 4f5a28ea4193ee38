import { z } from 'zod'
import {
  readRefusals,
  refusalBuckets,
  type RefusalQuery,
  type RefusalRow,
} from '../../../billing/refusals/read-refusals.ts'
import { dayMs } from '../../../billing/usage/usage-columns.ts'
import type { OrganizationId } from '../../../core/ids.ts'
import type { Principal } from '../../../core/principal.ts'
import { noCursor } from '../cursor.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { givenTime, inOrganization, nowhere, organizationId, pageOf, pageQuery, time, toTime } from '../schemas.ts'

const refusals = z
  .strictObject({
    startsAt: time.describe('The minute, hour or day.'),
    organizationId: organizationId.nullable().describe('Null where the key was not valid.'),
    class: z.string().describe('Why they were refused, such as `rate-limited` or `budget-exceeded`.'),
    requests: z.int(),
  })
  .meta({ id: 'Refusals' })

const query = pageQuery.extend({
  from: givenTime.optional().describe('A day ago where it is not given.'),
  to: givenTime.optional().describe('Left out itself; now where it is not given.'),
  bucket: z.enum(Object.keys(refusalBuckets) as (keyof typeof refusalBuckets)[]).default('hour'),
})

const answer = pageOf(refusals)

type Asked = z.output<typeof query>

async function list(
  { accounts }: RouteParts,
  principal: Principal,
  organization: OrganizationId | null,
  { from, to, bucket, limit, after }: Asked,
): Promise<z.input<typeof answer>> {
  const wanted: RefusalQuery = {
    organizationId: organization,
    fromMs: from === undefined ? accounts.clock.nowMs() - dayMs : Date.parse(from),
    toMs: to === undefined ? null : Date.parse(to),
    bucket,
    limit: limit + 1,
    after: after === undefined ? null : parseCursor(after),
  }
  const rows = await readRefusals(accounts.db, principal, wanted)
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { data: rows.slice(0, limit).map(show), next: last === undefined ? null : makeCursor(last) }
}

function show({ startMs, ...row }: RefusalRow) {
  return { startsAt: toTime(startMs), ...row }
}

const cursor = z.tuple([z.int(), organizationId.nullable(), z.string().regex(/^[^\0]*$/)])

function makeCursor({ startMs, organizationId: organization, class: why }: RefusalRow): string {
  return Buffer.from(JSON.stringify([startMs, organization, why])).toString('base64url')
}

function parseCursor(text: string): RefusalRow {
  try {
    const parsed = cursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')))
    const [startMs, organization, why] = parsed
    return { startMs, organizationId: organization, class: why, requests: 0 }
  } catch {
    throw noCursor()
  }
}

export const refusalRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/refusals',
    permission: 'refusals:read',
    scope: 'organization',
    summary: 'Count the requests that were refused, by class and minute, hour or day',
    params: inOrganization,
    query,
    answer,
    work: ({ parts, principal, params, query: asked }) => list(parts, principal, params.organizationId, asked),
  }),
  defineRoute({
    method: 'GET',
    path: '/api/v1/refusals',
    permission: 'refusals:read',
    scope: 'installation',
    summary: 'Count the refused requests of all organizations, and those with keys that are not valid',
    params: nowhere,
    query,
    answer,
    work: ({ parts, principal, query: asked }) => list(parts, principal, null, asked),
  }),
]
