import { z } from 'zod'
import {
  createRole,
  listRoles,
  readRole,
  removeRole,
  updateRole,
  type OwnRole,
} from '../../../accounts/custom-roles.ts'
import { mayGive } from '../../../accounts/members.ts'
import type { Principal } from '../../../core/principal.ts'
import { roles } from '../../../core/role.ts'
import { defineRoute, type Route } from '../route.ts'
import { given, inOrganization, name, role, roleId, time, toTime } from '../schemas.ts'

const permission = z.string().min(1).max(100)
const chosen = z.array(permission).max(200).describe('What is left of the base; `GET /api/v1/permissions` lists them.')

const ownRole = z
  .strictObject({
    id: roleId,
    name: z.string(),
    base: role.describe('The built-in role of which it is a part: how far each permission reaches is as there.'),
    permissions: z.array(z.string()),
    members: z.int().describe('How many have it.'),
    isGivable: z.boolean().describe('Whether who reads this may give it to members.'),
    createdAt: time,
  })
  .meta({ id: 'Role' })

function show(principal: Principal, { createdAtMs, permissions, ...rest }: OwnRole): z.input<typeof ownRole> {
  const isGivable = mayGive(principal, rest.base, { id: rest.id, permissions })
  return { ...rest, permissions: [...permissions], isGivable, createdAt: toTime(createdAtMs) }
}

const path = '/api/v1/organizations/{organizationId}/roles'
const facts = { scope: 'organization', params: inOrganization.extend({ roleId }) } as const

export const roleRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'roles:read',
    scope: 'organization',
    summary: 'List the roles that an organization has made of the built-in ones',
    params: inOrganization,
    answer: z.strictObject({ data: z.array(ownRole), next: z.null() }),
    async work({ parts, principal, params }) {
      const found = await listRoles(parts.accounts, principal, params.organizationId)
      return { data: found.map((one) => show(principal, one)), next: null }
    },
  }),
  defineRoute({
    method: 'POST',
    path,
    permission: 'roles:create',
    scope: 'organization',
    summary: 'Make a role that is a part of a built-in one, and never more than one’s own',
    params: inOrganization,
    body: z.strictObject({ name, base: z.enum(roles).exclude(['owner']), permissions: chosen }).meta({ id: 'NewRole' }),
    example: { name: 'Support of acme.example', base: 'admin', permissions: ['members:read', 'requests:read'] },
    answer: ownRole,
    async work({ parts, principal, params, body }) {
      const id = await createRole(parts.accounts, principal, { ...params, ...body })
      return show(principal, await readRole(parts.accounts, principal, { ...params, id }))
    },
  }),
  defineRoute({
    ...facts,
    method: 'GET',
    path: `${path}/{roleId}`,
    permission: 'roles:read',
    summary: 'Read a role of an organization’s own',
    answer: ownRole,
    work: async ({ parts, principal, params: { roleId: id, ...params } }) =>
      show(principal, await readRole(parts.accounts, principal, { ...params, id })),
  }),
  defineRoute({
    ...facts,
    method: 'PATCH',
    path: `${path}/{roleId}`,
    permission: 'roles:update',
    summary: 'Change a role’s name or permissions, and with them what everybody who has it may do',
    body: z
      .strictObject({ name, permissions: chosen })
      .partial()
      .refine((fields) => Object.keys(fields).length > 0, 'Give at least one field to change.')
      .meta({ id: 'RoleChanges' }),
    example: { permissions: ['members:read'] },
    answer: ownRole,
    async work({ parts, principal, params: { roleId: id, ...params }, body }) {
      const reference = { ...params, id }
      await updateRole(parts.accounts, principal, reference, given(body))
      return show(principal, await readRole(parts.accounts, principal, reference))
    },
  }),
  defineRoute({
    ...facts,
    method: 'DELETE',
    path: `${path}/{roleId}`,
    permission: 'roles:remove',
    summary: 'Remove a role that nobody has',
    answer: 'nothing',
    work: ({ parts, principal, params: { roleId: id, ...params } }) =>
      removeRole(parts.accounts, principal, { ...params, id }),
  }),
]
