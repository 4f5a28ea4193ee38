import { z } from 'zod'
import { limitFields } from '../../../../core/limit-fields.ts'
import { listLimits, removeLimit, setLimit } from '../../../../limits/settings/limit-settings.ts'
import { pageOfAll } from '../../cursor.ts'
import { defineRoute, type Route } from '../../route.ts'
import { given, id, inOrganization, model, pageOf, pageQuery, toPage } from '../../schemas.ts'
import { givenFields, shownFields, subject } from './limit-schemas.ts'
import type { Limit } from '../../../../limits/settings/setting.ts'

const limitId = id('limit')
const scope = {
  subject,
  model: z.union([model, z.literal('*')]).describe('A model, or * for all of them together.'),
}

const limit = z
  .strictObject({
    id: limitId,
    ...scope,
    ...shownFields(limitFields),
    setBy: z
      .enum(['installation', 'organization'])
      .describe('What the installation sets takes the place of the tier’s; what an organization sets holds beside it.'),
  })
  .meta({ id: 'Limit' })

const limitToSet = z
  .strictObject({
    ...scope,
    ...givenFields(limitFields),
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
    scope: 'subject',
    summary: 'Set all limits of a subject for a model; what is not given is not limited',
    params: inOrganization,
    body: limitToSet,
    example: { subject: { kind: 'project', id: 'proj_default' }, model: '*', inputTokensPerMinute: 400_000 },
    answer: limit,
    async work({ parts, principal, params: { organizationId }, body: { subject: whose, model: which, ...values } }) {
      const wanted = { organizationId, subject: whose, model: which, ...given(values) }
      return show(await setLimit(parts.accounts, principal, wanted))
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
    async work({ parts, principal, params: { organizationId, limitId: id } }) {
      await removeLimit(parts.accounts, principal, { id, organizationId })
    },
  }),
]
