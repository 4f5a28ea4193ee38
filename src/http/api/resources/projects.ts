import { z } from 'zod'
import {
  createProject,
  listProjects,
  setProjectArchived,
  setProjectMember,
  type Project,
  readProject,
  updateProject,
} from '../../../accounts/projects.ts'
import { keyOwners } from '../../../db/tables/accounts.ts'
import { defineRoute, type Route } from '../route.ts'
import {
  given,
  inOrganization,
  memberId,
  name,
  pageOf,
  pageQuery,
  projectId,
  time,
  toPage,
  toPageRequest,
  toTime,
  toTimeOrNull,
} from '../schemas.ts'

const keyOwner = z
  .enum(keyOwners)
  .describe('Whose new keys may be in it: anyone’s, or service accounts’ alone. Keys that are there stay.')

const project = z
  .strictObject({
    id: projectId,
    name: z.string(),
    createdAt: time,
    archivedAt: time.nullable().describe('While it is archived its keys are refused.'),
    keyOwners: keyOwner,
    recordedUntil: time.nullable().describe('Until when what is said in its requests is kept; null where nothing is.'),
  })
  .meta({ id: 'Project' })

function show({ createdAtMs, archivedAtMs, recordedUntilMs, ...rest }: Project): z.input<typeof project> {
  return {
    ...rest,
    createdAt: toTime(createdAtMs),
    archivedAt: toTimeOrNull(archivedAtMs),
    recordedUntil: toTimeOrNull(recordedUntilMs),
  }
}

const path = '/api/v1/organizations/{organizationId}/projects'
const inProject = inOrganization.extend({ projectId })
const inProjectOfMember = inProject.extend({ memberId })
const named = z.strictObject({ name })
const example = { name: 'Search' }

export const projectRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'projects:read',
    scope: 'organization',
    summary: 'List the projects that may be seen',
    params: inOrganization,
    query: pageQuery,
    answer: pageOf(project),
    async work({ parts, principal, params, query }) {
      return toPage(await listProjects(parts.accounts, principal, { ...params, ...toPageRequest(query) }), show)
    },
  }),
  defineRoute({
    method: 'POST',
    path,
    permission: 'projects:create',
    scope: 'organization',
    summary: 'Make a project',
    params: inOrganization,
    body: named,
    example,
    answer: project,
    async work({ parts, principal, params, body }) {
      const id = await createProject(parts.accounts, principal, { ...params, ...body })
      return show(await readProject(parts.accounts, principal, { id, ...params }))
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/{projectId}`,
    permission: 'projects:read',
    scope: 'organization',
    summary: 'Read a project',
    params: inProject,
    answer: project,
    async work({ parts, principal, params }) {
      return show(await readProject(parts.accounts, principal, refer(params)))
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: `${path}/{projectId}`,
    permission: 'projects:update',
    scope: 'organization',
    summary: 'Change a project’s name, or whose keys may be in it; what is not given stays',
    params: inProject,
    body: z
      .strictObject({ name, keyOwners: keyOwner })
      .partial()
      .refine((fields) => Object.keys(fields).length > 0, 'Give at least one field to change.')
      .meta({ id: 'ProjectChanges' }),
    example,
    answer: project,
    async work({ parts, principal, params, body }) {
      await updateProject(parts.accounts, principal, refer(params), given(body))
      return show(await readProject(parts.accounts, principal, refer(params)))
    },
  }),
  setArchived('archive', 'Archive a project: its keys are refused, what was recorded of it stays'),
  setArchived('restore', 'Bring an archived project back'),
  setSight('PUT', 'Let a developer see a project'),
  setSight('DELETE', 'Hide a project from a developer'),
]

function setArchived(verb: 'archive' | 'restore', summary: string): Route {
  return defineRoute({
    method: 'POST',
    path: `${path}/{projectId}/${verb}`,
    permission: 'projects:archive',
    scope: 'organization',
    summary,
    params: inProject,
    answer: project,
    async work({ parts, principal, params }) {
      await setProjectArchived(parts.accounts, principal, refer(params), verb === 'archive')
      return show(await readProject(parts.accounts, principal, refer(params)))
    },
  })
}

function setSight(method: 'PUT' | 'DELETE', summary: string): Route {
  return defineRoute({
    method,
    path: `${path}/{projectId}/members/{memberId}`,
    permission: 'members:update',
    scope: 'organization',
    summary,
    params: inProjectOfMember,
    answer: 'nothing',
    async work({ parts, principal, params }) {
      const sight = { ...refer(params), memberId: params.memberId, maySee: method === 'PUT' }
      await setProjectMember(parts.accounts, principal, sight)
    },
  })
}

function refer({ projectId: id, organizationId }: z.output<typeof inProject>) {
  return { id, organizationId }
}
