import { z } from 'zod'
import { listMappings, setMappings, type GroupMapping } from '../../../accounts/single-sign-on/group-mappings.ts'
import { previewConnectionMappings } from '../../../accounts/single-sign-on/preview-mappings.ts'
import { invalidRequest } from '../../../core/error.ts'
import { defineRoute, type Route } from '../route.ts'
import { memberId, projectId, role } from '../schemas.ts'
import { signInParts } from '../sign-in/schemas.ts'
import { connectionsPath, givenRole, ofConnection } from './connection-routes.ts'

const mapping = z
  .strictObject({
    group: z.string().min(1).max(500),
    role: givenRole,
    projectIds: z.array(projectId).max(100).default([]),
  })
  .meta({ id: 'GroupMapping' })
export const mappings = z.strictObject({
  data: z
    .array(mapping)
    .max(500)
    .describe('The first group that somebody is in gives the role, and each its projects.'),
})
export const mappingsShown = z.strictObject({
  data: z.array(mapping.extend({ role, projectIds: z.array(projectId) })),
  next: z.null(),
})

export const groupMappingRoutes: readonly Route[] = [
  defineRoute({
    ...ofConnection,
    method: 'GET',
    path: `${connectionsPath}/{connectionId}/group-mappings`,
    permission: 'connections:read',
    summary: 'List what members of the provider’s groups are here',
    answer: mappingsShown,
    work: async ({ parts, principal, params: { connectionId: chosen, ...params } }) =>
      showMappings(await listMappings(parts.accounts, principal, { ...params, id: chosen })),
  }),
  defineRoute({
    ...ofConnection,
    method: 'PUT',
    path: `${connectionsPath}/{connectionId}/group-mappings`,
    permission: 'connections:update',
    needsProof: true,
    summary: 'Say what members of the provider’s groups are here, in the place of what was said before',
    body: mappings,
    example: { data: [{ group: 'engineers', role: 'developer', projectIds: ['proj_default'] }] },
    answer: mappingsShown,
    async work({ parts, principal, params: { connectionId: chosen, ...params }, body }) {
      const reference = { ...params, id: chosen }
      await setMappings(signInParts(parts), principal, reference, body.data)
      return showMappings(await listMappings(parts.accounts, principal, reference))
    },
  }),
  defineRoute({
    ...ofConnection,
    method: 'GET',
    path: `${connectionsPath}/{connectionId}/group-mappings/preview`,
    permission: 'connections:update',
    summary: 'Tell what groups make of somebody by mappings, and whom it changes at their next sign-in; change nothing',
    query: z.strictObject({
      mappings: z.string().max(8_000).describe('As the list `data` of what is said of groups, as JSON.'),
      group: z
        .array(z.string().min(1).max(500))
        .max(200)
        .optional()
        .describe('Groups of somebody, of whom it is asked what they make.'),
    }),
    answer: z
      .strictObject({
        made: z
          .strictObject({ role, projectIds: z.array(projectId), permissions: z.array(z.string()) })
          .nullable()
          .describe('What the groups make of somebody; null where none are given, or nothing is mapped.'),
        data: z
          .array(
            z.strictObject({
              id: memberId,
              name: z.string(),
              email: z.string(),
              groups: z.array(z.string()).describe('What the provider has named at the last sign-in.'),
              roleBefore: role,
              roleAfter: role,
              opened: z.array(projectId),
              closed: z.array(projectId),
            }),
          )
          .describe('Whom it changes of those who have signed in before.'),
        next: z.null(),
      })
      .meta({ id: 'MappingPreview' }),
    async work({ parts, principal, params: { connectionId: chosen, ...params }, query }) {
      const tried = { mappings: readTried(query.mappings), groups: query.group ?? null }
      const found = await previewConnectionMappings(parts.accounts, principal, { ...params, id: chosen }, tried)
      const made = found.made && {
        ...found.made,
        projectIds: [...found.made.projectIds],
        permissions: [...found.made.permissions],
      }
      const data = found.changes.map(({ groups, opened, closed, ...rest }) => {
        return { ...rest, groups: [...groups], opened: [...opened], closed: [...closed] }
      })
      return { made, data, next: null }
    },
  }),
]

/** Reads mappings that stand in an address as JSON. */
export function readTried(text: string): z.output<typeof mappings>['data'] {
  try {
    return mappings.shape.data.parse(JSON.parse(text))
  } catch (cause) {
    throw invalidRequest(
      ['mappings'],
      'value',
      cause instanceof z.ZodError ? z.prettifyError(cause) : 'This is no JSON.',
    )
  }
}

export function showMappings(found: readonly GroupMapping[]): z.input<typeof mappingsShown> {
  return { data: found.map(({ projectIds, ...rest }) => ({ ...rest, projectIds: [...projectIds] })), next: null }
}
