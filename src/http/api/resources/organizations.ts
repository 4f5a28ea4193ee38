import { z } from 'zod'
import {
  createOrganization,
  listOrganizations,
  readOrganization,
  renameOrganization,
  setOrganizationDisabled,
  type Organization,
} from '../../../accounts/organizations.ts'
import { defineRoute, type Route } from '../route.ts'
import {
  inOrganization,
  name,
  nowhere,
  organizationId,
  pageOf,
  pageQuery,
  projectId,
  tier,
  time,
  toPage,
  toPageRequest,
  toTime,
  toTimeOrNull,
} from '../schemas.ts'

const organization = z
  .strictObject({
    id: organizationId,
    name: z.string(),
    createdAt: time,
    disabledAt: time.nullable().describe('While it is disabled its keys are refused.'),
    tier: tier.describe('Whose limits it has where nothing else is set.'),
  })
  .meta({ id: 'Organization' })

function show({ id, name: text, createdAtMs, disabledAtMs, tier: own }: Organization): z.input<typeof organization> {
  return { id, name: text, createdAt: toTime(createdAtMs), disabledAt: toTimeOrNull(disabledAtMs), tier: own }
}

const path = '/api/v1/organizations'
const named = z.strictObject({ name })
const example = { name: 'Research' }

export const organizationRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'organizations:read',
    scope: 'own',
    summary: 'List the organizations: the key’s own, or all of them for a key of the installation',
    params: nowhere,
    query: pageQuery,
    answer: pageOf(organization),
    async work({ parts, principal, query }) {
      return toPage(await listOrganizations(parts.accounts, principal, toPageRequest(query)), show)
    },
  }),
  defineRoute({
    method: 'POST',
    path,
    permission: 'organizations:create',
    scope: 'installation',
    summary: 'Make an organization with a first project',
    params: nowhere,
    body: named,
    example,
    answer: z.strictObject({ organization, projectId }),
    async work({ parts, principal, body }) {
      const made = await createOrganization(parts.accounts, principal, body)
      const read = await readOrganization(parts.accounts, principal, made.organizationId)
      return { organization: show(read), projectId: made.projectId }
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/{organizationId}`,
    permission: 'organizations:read',
    scope: 'organization',
    summary: 'Read an organization',
    params: inOrganization,
    answer: organization,
    async work({ parts, principal, params }) {
      return show(await readOrganization(parts.accounts, principal, params.organizationId))
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: `${path}/{organizationId}`,
    permission: 'organizations:update',
    scope: 'organization',
    summary: 'Rename an organization',
    params: inOrganization,
    body: named,
    example,
    answer: organization,
    async work({ parts, principal, params, body }) {
      await renameOrganization(parts.accounts, principal, { ...params, ...body })
      return show(await readOrganization(parts.accounts, principal, params.organizationId))
    },
  }),
  setDisabled('disable', 'Disable an organization: its keys are refused and what they have under way is ended'),
  setDisabled('enable', 'Enable an organization again'),
]

function setDisabled(verb: 'disable' | 'enable', summary: string): Route {
  return defineRoute({
    method: 'POST',
    path: `${path}/{organizationId}/${verb}`,
    permission: 'organizations:disable',
    scope: 'organization',
    summary,
    params: inOrganization,
    answer: organization,
    async work({ parts, principal, params }) {
      await setOrganizationDisabled(parts.accounts, principal, { ...params, isDisabled: verb === 'disable' })
      return show(await readOrganization(parts.accounts, principal, params.organizationId))
    },
  })
}
