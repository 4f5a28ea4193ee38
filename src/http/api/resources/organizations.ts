import { z } from 'zod'
import { endUserRules } from '../../../core/principal.ts'
import {
  createOrganization,
  listOrganizations,
  prioritizeOrganization,
  readOrganization,
  renameOrganization,
  setOrganizationDisabled,
  type Organization,
} from '../../../accounts/organizations.ts'
import {
  contactLengthMax,
  keyDaysLimit,
  readSettings,
  tagKeyPattern,
  tagKeysMax,
  updateSettings,
} from '../../../accounts/organization-settings.ts'
import { defineRoute, type Route } from '../route.ts'
import {
  given,
  inOrganization,
  name,
  nowhere,
  organizationId,
  pageOf,
  pageQuery,
  priority,
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
    priority: priority.describe(
      'How soon its requests have their turn where requests wait; its keys’ have it no sooner.',
    ),
    contact: z.string().nullable().describe('Whom its members ask for higher limits.'),
  })
  .meta({ id: 'Organization' })

function show({ createdAtMs, disabledAtMs, ...rest }: Organization): z.input<typeof organization> {
  return { ...rest, createdAt: toTime(createdAtMs), disabledAt: toTimeOrNull(disabledAtMs) }
}

const settings = z
  .strictObject({
    contact: z.string().nullable().describe('Whom its members ask for higher limits, in words.'),
    keyDaysMax: z.int().nullable().describe('How many days a key lasts at most; null sets no end.'),
    endUsers: z
      .enum(endUserRules)
      .describe('Whether end users whom requests are for are kept by their names, as hashes, or not at all.'),
    tagKeys: z.array(z.string()).readonly().describe('The keys of a request’s metadata that are kept as tags.'),
  })
  .meta({ id: 'OrganizationSettings' })
const newSettings = z
  .strictObject({
    contact: z.string().max(contactLengthMax).nullable().optional(),
    keyDaysMax: z.int().min(1).max(keyDaysLimit).nullable().optional(),
    endUsers: z.enum(endUserRules).optional(),
    tagKeys: z.array(z.string().regex(tagKeyPattern)).max(tagKeysMax).optional(),
  })
  .meta({ id: 'NewOrganizationSettings' })

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
  defineRoute({
    method: 'GET',
    path: `${path}/{organizationId}/settings`,
    permission: 'settings:read',
    scope: 'organization',
    summary: 'Read what an organization sets for its members and their keys',
    params: inOrganization,
    answer: settings,
    work: ({ parts, principal, params }) => readSettings(parts.accounts, principal, params.organizationId),
  }),
  defineRoute({
    method: 'PATCH',
    path: `${path}/{organizationId}/settings`,
    permission: 'settings:update',
    scope: 'organization',
    summary: 'Change what an organization sets; what is not named stays, and keys that are there do too',
    params: inOrganization,
    body: newSettings,
    example: { contact: 'ops@example.org' },
    answer: settings,
    async work({ parts, principal, params, body }) {
      await updateSettings(parts.accounts, principal, { ...params, ...given(body) })
      return readSettings(parts.accounts, principal, params.organizationId)
    },
  }),
  defineRoute({
    method: 'PUT',
    path: `${path}/{organizationId}/priority`,
    permission: 'tiers:assign',
    scope: 'organization',
    summary: 'Set how soon an organization’s requests have their turn',
    params: inOrganization,
    body: z.strictObject({ priority }),
    example: { priority: 'batch' },
    answer: organization,
    async work({ parts, principal, params, body }) {
      await prioritizeOrganization(parts.accounts, principal, { ...params, ...body })
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
