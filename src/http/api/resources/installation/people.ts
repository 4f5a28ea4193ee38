import { z } from 'zod'
import {
  addInstallationPerson,
  installationRoles,
  listInstallationPeople,
  readInstallationPerson,
  setInstallationRole,
  type InstallationPerson,
} from '../../../../accounts/installation/people.ts'
import { defineRoute, type Route } from '../../route.ts'
import { id, nowhere, pageOf, pageQuery, role, time, toPage, toPageRequest, toTime } from '../../schemas.ts'

const userId = id('usr')
const givenRole = z.enum(installationRoles)
const person = z
  .strictObject({ id: userId, name: z.string(), email: z.string(), role, createdAt: time })
  .meta({ id: 'InstallationMember' })

function show({ createdAtMs, ...rest }: InstallationPerson): z.input<typeof person> {
  return { ...rest, createdAt: toTime(createdAtMs) }
}

const path = '/api/v1/installation/members'
const facts = { scope: 'installation' } as const
const inPerson = z.strictObject({ userId })

/** Who runs the installation as a whole, beside what they may be in organizations. */
export const installationPeopleRoutes: readonly Route[] = [
  defineRoute({
    ...facts,
    method: 'GET',
    path,
    permission: 'installation:read',
    summary: 'List the people who have a role in the installation',
    params: nowhere,
    query: pageQuery,
    answer: pageOf(person),
    async work({ parts, principal, query }) {
      return toPage(await listInstallationPeople(parts.accounts, principal, toPageRequest(query)), show)
    },
  }),
  defineRoute({
    ...facts,
    method: 'POST',
    path,
    permission: 'installation:update',
    needsProof: true,
    summary: 'Give somebody a role in the installation who signs in here already',
    params: nowhere,
    body: z.strictObject({ email: z.string().min(3).max(254), role: givenRole }).meta({ id: 'NewInstallationMember' }),
    example: { email: 'operator@example.org', role: 'auditor' },
    answer: person,
    async work({ parts, principal, body }) {
      const added = await addInstallationPerson(parts.accounts, principal, body)
      return show(await readInstallationPerson(parts.accounts, principal, added))
    },
  }),
  defineRoute({
    ...facts,
    method: 'PATCH',
    path: `${path}/{userId}`,
    permission: 'installation:update',
    needsProof: true,
    summary: 'Give somebody another role in the installation; the last owner stays one',
    params: inPerson,
    body: z.strictObject({ role: givenRole }),
    example: { role: 'auditor' },
    answer: person,
    async work({ parts, principal, params, body }) {
      await setInstallationRole(parts.accounts, principal, { id: params.userId, ...body })
      return show(await readInstallationPerson(parts.accounts, principal, params.userId))
    },
  }),
  defineRoute({
    ...facts,
    method: 'DELETE',
    path: `${path}/{userId}`,
    permission: 'installation:update',
    needsProof: true,
    summary: 'Take somebody’s role in the installation away; what they are in organizations stays',
    params: inPerson,
    answer: 'nothing',
    async work({ parts, principal, params }) {
      await setInstallationRole(parts.accounts, principal, { id: params.userId, role: null })
    },
  }),
]
