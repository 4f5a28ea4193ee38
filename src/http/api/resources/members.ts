import { z } from 'zod'
import { createMember, listMembers, removeMember, setMemberRole, type Member } from '../../../accounts/members.ts'
import type { Page } from '../../../accounts/page.ts'
import { setProjectMember } from '../../../accounts/projects.ts'
import { readMember, readMemberProjects } from '../../../accounts/read-member.ts'
import { readConsequences, setMemberSuspended } from '../../../accounts/leaving/suspend-member.ts'
import type { OrganizationId } from '../../../core/ids.ts'
import { permissions, reachByRole } from '../../../core/permission.ts'
import type { Principal } from '../../../core/principal.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import {
  apiKeyId,
  inOrganization,
  managementKeyId,
  memberId,
  name,
  nowhere,
  pageOf,
  pageQuery,
  projectId,
  role,
  roleId,
  time,
  toPageRequest,
  toTime,
  toTimeOrNull,
} from '../schemas.ts'

const member = z
  .strictObject({
    id: memberId,
    email: z.string(),
    name: z.string(),
    role,
    roleId: roleId.nullable().describe('The organization’s own role that leaves a part of it; null where it is whole.'),
    projectIds: z.array(projectId).describe('The projects that were opened to them; only a developer needs that.'),
    createdAt: time,
    removedAt: time.nullable(),
    suspendedAt: time
      .nullable()
      .describe('While this is set the member is let in nowhere, and their keys are refused.'),
    signsIn: z.boolean().describe('Whether somebody signs in as this member.'),
  })
  .meta({ id: 'Member' })

const keyName = z.strictObject({ id: apiKeyId, name: z.string() })
const consequences = z
  .strictObject({
    keysOwned: z
      .array(keyName)
      .describe('These are revoked with their owner, and refused while the owner is suspended.'),
    keysMadeForOthers: z.array(keyName).describe('These stay: somebody else has to look at them.'),
    managementKeysMade: z
      .array(z.strictObject({ id: managementKeyId, name: z.string() }))
      .describe('These end with whoever made them, and are refused as long as that one is suspended.'),
    invitationsMade: z.int().describe('Open invitations of theirs, which end.'),
    sessions: z.int().describe('Where the member is signed in.'),
    agents: z.int().describe('Coding agents of theirs that are signed in to the organization, and are signed out.'),
  })
  .meta({ id: 'MemberConsequences' })

/** Owners are made only by somebody who has just shown who they are. */
const ofOwner = ({ role: given }: { readonly role: string }) => given === 'owner'

const path = '/api/v1/organizations/{organizationId}/members'
const inMember = inOrganization.extend({ memberId })
const newMember = z
  .strictObject({
    email: z.string().min(3).max(254),
    name,
    role,
    projectIds: z.array(projectId).max(100).default([]),
  })
  .meta({ id: 'NewMember' })

type Found = { readonly parts: RouteParts; readonly principal: Principal; readonly organizationId: OrganizationId }

async function showAll({ parts, principal, organizationId }: Found, members: readonly Member[]) {
  const memberIds = members.map(({ id }) => id)
  const projects = await readMemberProjects(parts.accounts, principal, { organizationId, memberIds })
  return members.map(({ createdAtMs, removedAtMs, suspendedAtMs, hasUser, ...rest }): z.input<typeof member> => {
    const times = { createdAt: toTime(createdAtMs), removedAt: toTimeOrNull(removedAtMs) }
    const state = { suspendedAt: toTimeOrNull(suspendedAtMs), signsIn: hasUser }
    return { ...rest, projectIds: [...(projects.get(rest.id) ?? [])], ...times, ...state }
  })
}

async function showOne(found: Found, id: string): Promise<z.input<typeof member>> {
  const { parts, principal, organizationId } = found
  const [shown] = await showAll(found, [await readMember(parts.accounts, principal, { id, organizationId })])
  if (shown === undefined) throw new Error(`The member ${id} was read and is not shown.`)
  return shown
}

const reach = z.enum(['installation', 'organization', 'projects', 'own', 'none'])
const roleTable = z.strictObject({
  permissions: z.array(z.strictObject({ name: z.string(), reaches: z.record(role, reach) })),
})

export const memberRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/permissions',
    permission: 'organizations:read',
    scope: 'own',
    summary: 'Show how far each permission reaches in each role',
    params: nowhere,
    answer: roleTable,
    work: () =>
      Promise.resolve({
        permissions: permissions.map((known) => ({ name: known, reaches: { ...reachByRole(known) } })),
      }),
  }),
  defineRoute({
    method: 'GET',
    path,
    permission: 'members:read',
    scope: 'organization',
    summary: 'List the members, those who were removed included',
    params: inOrganization,
    query: pageQuery,
    answer: pageOf(member),
    async work({ parts, principal, params, query }) {
      const request = { ...params, ...toPageRequest(query) }
      const page: Page<Member> = await listMembers(parts.accounts, principal, request)
      return { data: await showAll({ parts, principal, ...params }, page.items), next: page.next }
    },
  }),
  defineRoute({
    method: 'POST',
    path,
    permission: 'members:create',
    scope: 'organization',
    summary: 'Make a member; each project that is opened to them is a change of its own in the audit',
    params: inOrganization,
    body: newMember,
    needsProof: ofOwner,
    example: { email: 'ann@example.org', name: 'Ann', role: 'auditor' },
    answer: member,
    async work({ parts, principal, params, body: { projectIds, ...person } }) {
      const id = await createMember(parts.accounts, principal, { ...params, ...person })
      for (const project of new Set(projectIds)) {
        await setProjectMember(parts.accounts, principal, { id: project, ...params, memberId: id, maySee: true })
      }
      return showOne({ parts, principal, ...params }, id)
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/{memberId}`,
    permission: 'members:read',
    scope: 'organization',
    summary: 'Read a member',
    params: inMember,
    answer: member,
    work: ({ parts, principal, params: { memberId: id, ...params } }) => showOne({ parts, principal, ...params }, id),
  }),
  defineRoute({
    method: 'PATCH',
    path: `${path}/{memberId}`,
    permission: 'members:update',
    scope: 'organization',
    summary: 'Give a member another role',
    params: inMember,
    body: z.strictObject({
      role: z.union([role, roleId]).describe('A built-in role, or the id of the organization’s own.'),
    }),
    needsProof: ofOwner,
    example: { role: 'auditor' },
    answer: member,
    async work({ parts, principal, params: { memberId: id, ...params }, body }) {
      await setMemberRole(parts.accounts, principal, { id, ...params }, body.role)
      return showOne({ parts, principal, ...params }, id)
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/{memberId}`,
    permission: 'members:remove',
    scope: 'organization',
    summary: 'Remove a member: their sessions, the keys they own and the management keys they made end',
    params: inMember,
    answer: 'nothing',
    async work({ parts, principal, params: { memberId: id, ...params } }) {
      await removeMember(parts.accounts, principal, { id, ...params })
    },
  }),
  defineRoute({
    method: 'GET',
    path: `${path}/{memberId}/consequences`,
    permission: 'members:read',
    scope: 'organization',
    summary: 'Read what it would lead to if a member were removed or suspended',
    params: inMember,
    answer: consequences,
    async work({ parts, principal, params: { memberId: id, ...params } }) {
      return readConsequences(parts.accounts, principal, { id, ...params })
    },
  }),
  suspend('suspend', true, 'Let a member in nowhere until they are restored: sessions end, keys of theirs are refused'),
  suspend('restore', false, 'Let a suspended member in again, with the keys that were refused for it'),
]

function suspend(verb: string, isSuspended: boolean, summary: string): Route {
  return defineRoute({
    method: 'POST',
    path: `${path}/{memberId}/${verb}`,
    permission: 'members:update',
    scope: 'organization',
    summary,
    params: inMember,
    answer: member,
    async work({ parts, principal, params: { memberId: id, ...params } }) {
      await setMemberSuspended(parts.accounts, principal, { id, ...params }, isSuspended)
      return showOne({ parts, principal, ...params }, id)
    },
  })
}
