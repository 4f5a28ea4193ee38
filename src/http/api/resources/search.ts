import { z } from 'zod'
import { findRequestTarget } from '../../../billing/ledger/read-ledger.ts'
import { may, seenProjects } from '../../../core/permission.ts'
import type { OrganizationId, RequestId } from '../../../core/ids.ts'
import type { Principal } from '../../../core/principal.ts'
import { containsText } from '../../../db/contains-text.ts'
import type { Database } from '../../../db/database.ts'
import { defineRoute, type Route } from '../route.ts'
import { inOrganization } from '../schemas.ts'

const found = z.strictObject({
  kind: z.enum(['api-key', 'member', 'project', 'request']),
  id: z.string(),
  name: z.string(),
  detail: z.string().nullable().describe('The last four characters of a key, or the address of a member.'),
})

/** How many of each kind a search finds at most. */
const most = 5

type Search = {
  readonly db: Database
  readonly organizationId: OrganizationId
  readonly text: string
}

export const searchRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/search',
    permission: 'organizations:read',
    scope: 'organization',
    summary: 'Find keys, members, projects, and a request by its id: five of each at most, of those that may be seen',
    params: inOrganization,
    query: z.strictObject({ q: z.string().max(200).default('') }),
    answer: z.strictObject({ data: z.array(found) }).meta({ id: 'SearchResults' }),
    async work({ parts, principal, params: { organizationId }, query: { q } }) {
      const text = q.trim()
      if (text === '') return { data: [] }
      const search = { db: parts.accounts.db, organizationId, text }
      const results = await Promise.all([
        findKeys(search, principal),
        findProjects(search, principal),
        findMembers(search, principal),
        findRequest(search, principal),
      ])
      return { data: results.flat() }
    },
  }),
]

type Found = z.input<typeof found>

async function findKeys({ db, organizationId, text }: Search, principal: Principal): Promise<Found[]> {
  const projects = seenProjects(principal, 'api-keys:read', organizationId)
  if (projects === undefined || projects?.length === 0) return []
  let query = db
    .selectFrom('api_keys')
    .select(['id', 'name', 'last_four'])
    .where('organization_id', '=', organizationId)
    .where('revoked_at', 'is', null)
    .where('kind', 'is', null)
    .where(({ or, eb }) =>
      or([containsText(db, 'name', text), eb('last_four', '=', text), eb('id', '=', text as `key_${string}`)]),
    )
  if (projects !== null) query = query.where('project_id', 'in', projects)
  const rows = await query.orderBy('name').limit(most).execute()
  return rows.map(({ id, name, last_four }) => ({ kind: 'api-key', id, name, detail: last_four }))
}

async function findProjects({ db, organizationId, text }: Search, principal: Principal): Promise<Found[]> {
  const projects = seenProjects(principal, 'projects:read', organizationId)
  if (projects === undefined || projects?.length === 0) return []
  let query = db
    .selectFrom('projects')
    .select(['id', 'name'])
    .where('organization_id', '=', organizationId)
    .where(containsText(db, 'name', text))
  if (projects !== null) query = query.where('id', 'in', projects)
  const rows = await query.orderBy('name').limit(most).execute()
  return rows.map(({ id, name }) => ({ kind: 'project', id, name, detail: null }))
}

async function findMembers({ db, organizationId, text }: Search, principal: Principal): Promise<Found[]> {
  if (!may(principal, 'members:read', { organizationId })) return []
  const rows = await db
    .selectFrom('members')
    .select(['id', 'name', 'email'])
    .where('organization_id', '=', organizationId)
    .where('removed_at', 'is', null)
    .where(({ or }) => or([containsText(db, 'name', text), containsText(db, 'email', text)]))
    .orderBy('name')
    .limit(most)
    .execute()
  return rows.map(({ id, name, email }) => ({ kind: 'member', id, name, detail: email }))
}

async function findRequest({ db, organizationId, text }: Search, principal: Principal): Promise<Found[]> {
  if (!text.startsWith('req_')) return []
  const target = await findRequestTarget(db, text as RequestId)
  if (target?.organizationId !== organizationId || !may(principal, 'requests:read', target)) return []
  return [{ kind: 'request', id: text, name: text, detail: null }]
}
