import { z } from 'zod'
import {
  answerLimitRequest,
  askForLimits,
  listLimitRequests,
  type LimitRequest,
} from '../../../../limits/settings/limit-requests.ts'
import { perMinuteMax } from '../../../../core/limit-fields.ts'
import { defineRoute, type Route } from '../../route.ts'
import { apiKeyId, id, inOrganization, model, time, toTime, toTimeOrNull } from '../../schemas.ts'

export const limitRequestId = id('ask')
const number = z.int().min(1).max(perMinuteMax).optional()
const wanted = z
  .strictObject({
    inputTokensPerMinute: number,
    outputTokensPerMinute: number,
    requestsPerMinute: number,
    concurrency: number,
  })
  .refine((given) => Object.values(given).some((value) => value !== undefined), 'Say what is wanted.')
  .meta({ id: 'WantedLimits' })

/** What somebody says who wants more. */
export const asking = {
  model: z.union([model, z.literal('*')]).default('*'),
  wanted,
  reason: z.string().min(1).max(1_000),
  contact: z.string().max(200).nullable().default(null).describe('How to reach who asks, where they have no account.'),
}

export const limitRequest = z
  .strictObject({
    id: limitRequestId,
    apiKeyId,
    apiKeyName: z.string().describe('The id for who may not see keys.'),
    model: z.string(),
    wanted,
    reason: z.string(),
    contact: z.string().nullable().describe('How to reach who asks; null for who may not see keys.'),
    askedBy: z.string().describe('A member, or the key itself where its owner has no account.'),
    askedAt: time,
    state: z.enum(['open', 'approved', 'declined']),
    answeredAt: time.nullable(),
    answeredBy: z.string().nullable(),
    answer: z.string().nullable(),
  })
  .meta({ id: 'LimitRequest' })

export function showLimitRequest({ askedAtMs, answeredAtMs, ...rest }: LimitRequest): z.input<typeof limitRequest> {
  const { id: own } = rest
  return {
    ...rest,
    id: own as z.input<typeof limitRequestId>,
    askedAt: toTime(askedAtMs),
    answeredAt: toTimeOrNull(answeredAtMs),
  }
}

const path = '/api/v1/organizations/{organizationId}/limit-requests'
const answer = z.strictObject({ answer: z.string().max(1_000).nullable().default(null) })

const answering = (state: 'approved' | 'declined', verb: 'approve' | 'decline', summary: string) =>
  defineRoute({
    method: 'POST',
    path: `${path}/{limitRequestId}/${verb}`,
    permission: 'limits:update',
    scope: 'organization',
    summary,
    params: inOrganization.extend({ limitRequestId }),
    body: answer,
    example: { answer: 'From tomorrow on.' },
    answer: 'nothing',
    work: ({ parts, principal, params: { organizationId, limitRequestId: asked }, body }) =>
      answerLimitRequest(parts.accounts, principal, { organizationId, id: asked, state, ...body }),
  })

export const limitRequestRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'limits:read',
    scope: 'organization',
    summary: 'List what is asked for beyond limits, newest first',
    params: inOrganization,
    query: z.strictObject({ state: z.enum(['open', 'approved', 'declined']).optional() }),
    answer: z.strictObject({ data: z.array(limitRequest) }),
    async work({ parts, principal, params, query: { state = null } }) {
      const requests = await listLimitRequests(parts.accounts, principal, { ...params, state })
      return { data: requests.map(showLimitRequest) }
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/v1/organizations/{organizationId}/api-keys/{apiKeyId}/limit-requests',
    permission: 'limits:ask',
    scope: 'organization',
    summary: 'Ask for higher limits of a key',
    params: inOrganization.extend({ apiKeyId }),
    body: z.strictObject(asking),
    example: { wanted: { inputTokensPerMinute: 400_000 }, reason: 'The nightly run takes two hours.' },
    answer: z.strictObject({ id: limitRequestId }),
    async work({ parts, principal, params, body }) {
      const asked = await askForLimits(parts.accounts, principal, { ...params, ...body })
      return { id: asked as z.input<typeof limitRequestId> }
    },
  }),
  answering('approved', 'approve', 'Note that what was asked for was given'),
  answering('declined', 'decline', 'Decline what was asked for'),
]
