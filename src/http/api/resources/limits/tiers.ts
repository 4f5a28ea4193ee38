import { z } from 'zod'
import { limitFields } from '../../../../core/limit-fields.ts'
import { tierIds } from '../../../../core/tier.ts'
import { assignTier, listTiers, setTierLimit } from '../../../../limits/settings/tiers.ts'
import { defineRoute, type Route } from '../../route.ts'
import { given, inOrganization, model, nowhere, tier } from '../../schemas.ts'
import { givenFields, shownFields } from './limit-schemas.ts'

const scope = { model: z.union([model, z.literal('*')]).describe('A model, or * for all of them together.') }

const tierLimit = z.strictObject({ ...scope, ...shownFields(limitFields) }).meta({ id: 'TierLimit' })

const shownTier = z
  .strictObject({
    id: tier,
    isEnforced: z.boolean().describe('Whether what exceeds its limits is refused; otherwise it is counted and shown.'),
    limits: z.array(tierLimit).describe('What each organization in the tier has, where nothing else is set for it.'),
  })
  .meta({ id: 'Tier' })

const limitToSet = z.strictObject({ ...scope, ...givenFields(limitFields) }).meta({ id: 'TierLimitToSet' })
const assignment = z.strictObject({ tier })

export const tierRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/tiers',
    permission: 'tiers:read',
    scope: 'own',
    summary: 'List the tiers with their limits',
    params: nowhere,
    answer: z.strictObject({ data: z.array(shownTier) }),
    async work({ parts, principal }) {
      return { data: (await listTiers(parts.accounts, principal)) as z.input<typeof shownTier>[] }
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/v1/tiers/{tier}',
    permission: 'tiers:update',
    scope: 'installation',
    summary: 'Set all limits of a tier for a model; what is not given is not limited',
    params: z.strictObject({ tier }),
    body: limitToSet,
    example: {
      model: 'hal-1.0',
      inputTokensPerMinute: 500_000,
      outputTokensPerMinute: 100_000,
      requestsPerMinute: 300,
    },
    answer: tierLimit,
    async work({ parts, principal, params, body: { model: which, ...values } }) {
      const wanted = { ...params, model: which, ...given(values) }
      const { tier: _, ...limit } = await setTierLimit(parts.accounts, principal, wanted)
      return limit as z.input<typeof tierLimit>
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/api/v1/organizations/{organizationId}/tier',
    permission: 'tiers:assign',
    scope: 'organization',
    summary: 'Put an organization into a tier',
    params: inOrganization,
    body: assignment,
    example: { tier: tierIds[1] },
    answer: assignment,
    async work({ parts, principal, params, body }) {
      await assignTier(parts.accounts, principal, { ...params, ...body })
      return body
    },
  }),
]
