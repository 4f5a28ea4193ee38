import { z } from 'zod'
import { listConflicts } from '../../../accounts/directory/conflicts.ts'
import {
  createDirectory,
  listDirectories,
  readDirectory,
  removeDirectory,
  rotateDirectoryToken,
  updateDirectory,
  type Directory,
} from '../../../accounts/directory/directories.ts'
import { listDirectoryMappings, previewMappings, setDirectoryMappings } from '../../../accounts/directory/mappings.ts'
import { listDirectoryGroups } from '../../../accounts/directory/read-groups.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { given, id, inOrganization, memberId, name, projectId, role, time, toTime, toTimeOrNull } from '../schemas.ts'
import { givenRole } from './connection-routes.ts'
import { mappings, mappingsShown, readTried, showMappings } from './group-mapping-routes.ts'

const directoryId = id('dir')
const path = '/api/v1/organizations/{organizationId}/directories'
const inDirectory = inOrganization.extend({ directoryId })

const settings = { name, defaultRole: givenRole.describe('Of whom no mapping gives another; never `owner`.') } as const

const directory = z
  .strictObject({
    id: directoryId,
    name,
    defaultRole: role,
    baseUri: z.string().describe('What the directory has to be told: where it speaks SCIM 2.0.'),
    users: z.int(),
    activeUsers: z.int().describe('Those that it lets in.'),
    groups: z.int(),
    tokens: z
      .array(z.strictObject({ id: id('dtok'), lastFour: z.string(), createdAt: time, expiresAt: time.nullable() }))
      .describe('Those that are good now: two at most.'),
    lastSeenAt: time.nullable().describe('When it last asked for anything, to the minute.'),
    createdAt: time,
  })
  .meta({ id: 'Directory' })

const withToken = z
  .strictObject({ directory, token: z.string().describe('The token itself. It is shown only now.') })
  .meta({ id: 'DirectoryWithToken' })

const group = z.strictObject({ id: id('grp'), name: z.string(), members: z.int() }).meta({ id: 'DirectoryGroup' })

const conflict = z
  .strictObject({
    id: id('dcon'),
    at: time,
    method: z.string(),
    path: z.string(),
    status: z.int(),
    detail: z.string().describe('Why it was refused, in words.'),
    requestId: z.string(),
  })
  .meta({ id: 'DirectoryConflict' })

const mappingChange = z
  .strictObject({
    id: memberId,
    name: z.string(),
    email: z.string(),
    roleBefore: role,
    roleAfter: role,
    opened: z.array(projectId),
    closed: z.array(projectId),
  })
  .meta({ id: 'MappingChange' })

function show({ management }: RouteParts, found: Directory): z.input<typeof directory> {
  const { createdAtMs, lastSeenAtMs, tokens, ...rest } = found
  return {
    ...rest,
    baseUri: `${management.siteUrl()}/scim/v2`,
    tokens: tokens.map(({ createdAtMs: made, expiresAtMs, ...token }) => {
      return { ...token, createdAt: toTime(made), expiresAt: toTimeOrNull(expiresAtMs) }
    }),
    lastSeenAt: toTimeOrNull(lastSeenAtMs),
    createdAt: toTime(createdAtMs),
  }
}

/** Mappings that are only tried stand in the address, as nothing is changed. */
const facts = { scope: 'organization', params: inDirectory } as const

export const directoryRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'directories:read',
    scope: 'organization',
    summary: 'List the directories that tell who the members are, by SCIM',
    params: inOrganization,
    answer: z.strictObject({ data: z.array(directory), next: z.null() }),
    async work({ parts, principal, params }) {
      const found = await listDirectories(parts.accounts, principal, params.organizationId)
      return { data: found.map((one) => show(parts, one)), next: null }
    },
  }),
  defineRoute({
    method: 'POST',
    path,
    permission: 'directories:create',
    scope: 'organization',
    needsProof: true,
    summary: 'Make a directory. The answer is the only place where its token is shown',
    params: inOrganization,
    body: z
      .strictObject({ ...settings, defaultRole: settings.defaultRole.default('developer') })
      .meta({ id: 'NewDirectory' }),
    example: { name: 'Entra' },
    answer: withToken,
    async work({ parts, principal, params, body }) {
      const made = await createDirectory(parts.accounts, principal, { ...params, ...body })
      const found = await readDirectory(parts.accounts, principal, { ...params, id: made.id })
      return { directory: show(parts, found), token: made.token }
    },
  }),
  defineRoute({
    ...facts,
    method: 'GET',
    path: `${path}/{directoryId}`,
    permission: 'directories:read',
    summary: 'Read a directory, with how many users and groups it has and when it last asked for anything',
    answer: directory,
    work: async ({ parts, principal, params: { directoryId: chosen, ...params } }) =>
      show(parts, await readDirectory(parts.accounts, principal, { ...params, id: chosen })),
  }),
  defineRoute({
    ...facts,
    method: 'PATCH',
    path: `${path}/{directoryId}`,
    permission: 'directories:update',
    summary: 'Change a directory; what is not given stays',
    body: z.strictObject(settings).partial().meta({ id: 'DirectoryChanges' }),
    example: { name: 'Entra of the company' },
    answer: directory,
    async work({ parts, principal, params: { directoryId: chosen, ...params }, body }) {
      const reference = { ...params, id: chosen }
      await updateDirectory(parts.accounts, principal, reference, given(body))
      return show(parts, await readDirectory(parts.accounts, principal, reference))
    },
  }),
  defineRoute({
    ...facts,
    method: 'DELETE',
    path: `${path}/{directoryId}`,
    permission: 'directories:remove',
    needsProof: true,
    summary: 'Forget a directory. Its members stay as they are, and whom it has switched off stays suspended',
    answer: 'nothing',
    work: ({ parts, principal, params: { directoryId: chosen, ...params } }) =>
      removeDirectory(parts.accounts, principal, { ...params, id: chosen }),
  }),
  defineRoute({
    ...facts,
    method: 'POST',
    path: `${path}/{directoryId}/rotate`,
    permission: 'directories:update',
    needsProof: true,
    summary: 'Make another token of a directory; the one before is good for as long as is said',
    body: z.strictObject({ overlapSeconds: z.int().min(0).max(2_592_000).default(604_800) }),
    example: { overlapSeconds: 86_400 },
    answer: withToken,
    async work({ parts, principal, params: { directoryId: chosen, ...params }, body }) {
      const reference = { ...params, id: chosen }
      const token = await rotateDirectoryToken(parts.accounts, principal, reference, body.overlapSeconds * 1_000)
      return { directory: show(parts, await readDirectory(parts.accounts, principal, reference)), token }
    },
  }),
  defineRoute({
    ...facts,
    method: 'GET',
    path: `${path}/{directoryId}/conflicts`,
    permission: 'directories:read',
    summary: 'List the latest that a directory wanted and was refused, with the reasons',
    answer: z.strictObject({ data: z.array(conflict), next: z.null() }),
    async work({ parts, principal, params: { directoryId: chosen, ...params } }) {
      const found = await listConflicts(parts.accounts, principal, { ...params, id: chosen })
      return { data: found.map(({ atMs, ...rest }) => ({ ...rest, at: toTime(atMs) })), next: null }
    },
  }),
  defineRoute({
    ...facts,
    method: 'GET',
    path: `${path}/{directoryId}/groups`,
    permission: 'directories:read',
    summary: 'List the groups of a directory',
    answer: z.strictObject({ data: z.array(group), next: z.null() }),
    async work({ parts, principal, params: { directoryId: chosen, ...params } }) {
      return {
        data: [...(await listDirectoryGroups(parts.accounts, principal, { ...params, id: chosen }))],
        next: null,
      }
    },
  }),
  defineRoute({
    ...facts,
    method: 'GET',
    path: `${path}/{directoryId}/group-mappings`,
    permission: 'directories:read',
    summary: 'List what members of a directory’s groups are here',
    answer: mappingsShown,
    work: async ({ parts, principal, params: { directoryId: chosen, ...params } }) =>
      showMappings(await listDirectoryMappings(parts.accounts, principal, { ...params, id: chosen })),
  }),
  defineRoute({
    ...facts,
    method: 'PUT',
    path: `${path}/{directoryId}/group-mappings`,
    permission: 'directories:update',
    needsProof: true,
    summary:
      'Say what members of a directory’s groups are here, in the place of what was said before, and make them so',
    body: mappings,
    example: { data: [{ group: 'engineers', role: 'developer', projectIds: ['proj_default'] }] },
    answer: mappingsShown,
    async work({ parts, principal, params: { directoryId: chosen, ...params }, body }) {
      const reference = { ...params, id: chosen }
      await setDirectoryMappings(parts.accounts, principal, reference, body.data)
      return showMappings(await listDirectoryMappings(parts.accounts, principal, reference))
    },
  }),
  defineRoute({
    ...facts,
    method: 'GET',
    path: `${path}/{directoryId}/group-mappings/preview`,
    permission: 'directories:update',
    summary: 'Tell whom mappings would change, and change nothing',
    query: z.strictObject({
      mappings: z.string().max(8_000).describe('As the list `data` of what is said of groups, as JSON.'),
    }),
    answer: z.strictObject({ data: z.array(mappingChange), next: z.null() }),
    async work({ parts, principal, params: { directoryId: chosen, ...params }, query }) {
      const tried = readTried(query.mappings)
      const found = await previewMappings(parts.accounts, principal, { ...params, id: chosen }, tried)
      return {
        data: found.map(({ opened, closed, ...rest }) => ({ ...rest, opened: [...opened], closed: [...closed] })),
        next: null,
      }
    },
  }),
]
