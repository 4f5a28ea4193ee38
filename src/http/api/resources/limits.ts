import { z } from 'zod'
import { perMinuteMax } from '../../../limits/token-bucket.ts'
import { listLimits, removeLimit, setLimit, type Limit } from '../../../limits/settings/limit-settings.ts'
import { pageOfAll } from '../cursor.ts'
import { defineRoute, type Route } from '../route.ts'
import { given, id, inOrganization, model, pageOf, pageQuery, toPage } from '../schemas.ts'
import { findSubject, requireRemoved, subject } from './subject.ts'

const limitId = id('limit')
const perMinute = z.int().min(1).max(perMinuteMax).nullable()
const place = {
  subject,
  model: z.union([model, z.literal('*')]).describe('A model, or * for all of them together.'),
}

const limit = z
  .strictObject({
    id: limitId,
    ...place,
    inputTokensPerMinute: perMinute,
    outputTokensPerMinute: perMinute,
    requestsPerMinute: perMinute,
    isRequestsEnforced: z.boolean().describe('Whether too many requests are refused; they are counted in any case.'),
    concurrency: perMinute.describe('Requests under way at a time.'),
    cachedReadPercent: z.int().min(0).max(100).describe('What a token from the prompt cache counts of an input token.'),
  })
  .meta({ id: 'Limit' })

const limitToSet = z
  .strictObject({
    ...place,
    inputTokensPerMinute: perMinute.optional(),
    outputTokensPerMinute: perMinute.optional(),
    requestsPerMinute: perMinute.optional(),
    isRequestsEnforced: z.boolean().optional(),
    concurrency: perMinute.optional(),
    cachedReadPercent: z.int().min(0).max(100).optional(),
  })
  .meta({ id: 'LimitToSet' })

const path = '/api/v1/organizations/{organizationId}/limits'

function show({ organizationId: _, ...rest }: Limit): z.input<typeof limit> {
  return rest as z.input<typeof limit>
}

export const limitRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'limits:read',
    scope: 'organization',
    summary: 'List the limits of an organization, its projects and its keys',
    params: inOrganization,
    query: pageQuery,
    answer: pageOf(limit),
    async work({ parts, principal, params, query }) {
      const limits = await listLimits(parts.accounts, principal, params.organizationId)
      return toPage(
        pageOfAll(limits, query, (item) => item.id),
        show,
      )
    },
  }),
  defineRoute({
    method: 'PUT',
    path,
    permission: 'limits:update',
    scope: 'organization',
    summary: 'Set all limits of a subject for a model; what is not given is not limited',
    params: inOrganization,
    body: limitToSet,
    example: { subject: { kind: 'project', id: 'proj_default' }, model: '*', inputTokensPerMinute: 400_000 },
    answer: limit,
    async work({ parts, principal, params: { organizationId }, body: { subject: asked, model: which, ...values } }) {
      const whose = await findSubject(parts, organizationId, asked)
      parts.afterwards(() => parts.management.limitsChanged())
      const wanted = { organizationId, subject: whose, model: which, ...given(values) }
      const set = await setLimit(parts.accounts, principal, wanted)
      const found = (await listLimits(parts.accounts, principal, organizationId)).find((item) => item.id === set)
      if (found === undefined) throw new Error(`The limit ${set} was set and is not there.`)
      return show(found)
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/{limitId}`,
    permission: 'limits:update',
    scope: 'organization',
    summary: 'Remove a limit',
    params: inOrganization.extend({ limitId }),
    answer: 'nothing',
    async work({ parts, principal, params: { organizationId, limitId: which } }) {
      parts.afterwards(() => parts.management.limitsChanged())
      requireRemoved(await removeLimit(parts.accounts, principal, { id: which, organizationId }))
    },
  }),
]
