import { z } from 'zod'
import { listCandidates } from '../../../../accounts/installation/candidates.ts'
import {
  addInstallationPerson,
  installationRoles,
  listInstallationPeople,
  readInstallationPerson,
  setInstallationRole,
  type InstallationPerson,
} from '../../../../accounts/installation/people.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  id,
  nowhere,
  organizationId,
  pageOf,
  pageQuery,
  role,
  time,
  toPage,
  toPageRequest,
  toTime,
} from '../../schemas.ts'

const userId = id('usr')
const givenRole = z.enum(installationRoles)
const person = z
  .strictObject({ id: userId, name: z.string(), email: z.string(), role, createdAt: time })
  .meta({ id: 'InstallationMember' })

function show({ createdAtMs, ...rest }: InstallationPerson): z.input<typeof person> {
  return { ...rest, createdAt: toTime(createdAtMs) }
}

const email = z.string().min(3).max(254)
const candidate = z
  .strictObject({
    id: userId,
    name: z.string(),
    email: z.string(),
    isProven: z.boolean(),
    organizations: z.array(z.strictObject({ id: organizationId, name: z.string() })),
  })
  .meta({ id: 'InstallationCandidate' })

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
    method: 'GET',
    path: '/api/v1/installation/candidates',
    permission: 'installation:read',
    summary: 'Find who signs in with an e-mail address, and in which organizations',
    params: nowhere,
    query: z.strictObject({ email }),
    answer: z.strictObject({ data: z.array(candidate), next: z.null() }),
    async work({ parts, principal, query }) {
      const found = await listCandidates(parts.accounts, principal, query.email)
      return { data: found.map((one) => ({ ...one, organizations: [...one.organizations] })), next: null }
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
    body: z.strictObject({ email, userId: userId.optional(), role: givenRole }).meta({ id: 'NewInstallationMember' }),
    example: { email: 'operator@example.org', userId: 'usr_operator', role: 'auditor' },
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
