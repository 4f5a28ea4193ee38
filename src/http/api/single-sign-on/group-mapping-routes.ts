import { z } from 'zod'
import { listMappings, setMappings, type GroupMapping } from '../../../accounts/single-sign-on/group-mappings.ts'
import { defineRoute, type Route } from '../route.ts'
import { projectId, role } from '../schemas.ts'
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
]

export function showMappings(found: readonly GroupMapping[]): z.input<typeof mappingsShown> {
  return { data: found.map(({ projectIds, ...rest }) => ({ ...rest, projectIds: [...projectIds] })), next: null }
}
