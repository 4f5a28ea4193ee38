import { countOwners } from '../../../accounts/read-member.ts'
import { z } from 'zod'
import type { OrganizationId } from '../../../core/ids.ts'
import { may, ownerReached, seenProjects } from '../../../core/permission.ts'
import type { Principal } from '../../../core/principal.ts'
import { readLimitRequests } from '../../../limits/settings/limit-requests.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { inOrganization, time, toTime } from '../schemas.ts'

const kinds = [
  'key-ends',
  'key-of-gone-member',
  'key-unused',
  'limit-request',
  'second-owner',
  'starter-weights',
  'backup',
  'disk',
  'sums',
  'public-url',
] as const

const task = z
  .strictObject({
    kind: z.enum(kinds),
    id: z.string().nullable().describe('Of what it is about; null where it is about the whole.'),
    name: z.string().nullable(),
    at: time.nullable().describe('When a key ends, or was last used.'),
  })
  .meta({ id: 'Task' })

type Task = z.input<typeof task>
type Asking = {
  readonly parts: RouteParts
  readonly principal: Principal
  readonly organizationId: OrganizationId
  readonly nowMs: number
}

const dayMs = 24 * 60 * 60 * 1_000
const endsWithinMs = 14 * dayMs
const unusedForMs = 90 * dayMs
/** A list of more is no list of things to do. */
const perKindMax = 20

export const taskRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/organizations/{organizationId}/tasks',
    permission: 'organizations:read',
    scope: 'organization',
    summary: 'List what somebody should look at, as far as the reader may do something about it',
    params: inOrganization,
    answer: z.strictObject({ data: z.array(task) }),
    async work({ parts, principal, params: { organizationId } }) {
      const asking = { parts, principal, organizationId, nowMs: parts.accounts.clock.nowMs() }
      const found = await Promise.all([ofKeys(asking), ofLimits(asking), ofOwners(asking), ofInstallation(asking)])
      return { data: found.flat() }
    },
  }),
]

/** Keys that end soon, that were made by somebody who has left, or that nobody uses: of those that the reader may change. */
async function ofKeys({ parts, principal, organizationId, nowMs }: Asking): Promise<Task[]> {
  const mayChange = seenProjects(principal, 'api-keys:update', organizationId) !== undefined
  const projects = seenProjects(principal, 'api-keys:read', organizationId)
  if (!mayChange || projects === undefined || projects?.length === 0) return []
  let query = parts.accounts.db
    .selectFrom('api_keys')
    .leftJoin('members', 'members.id', 'api_keys.created_by')
    .select(['api_keys.id as id', 'api_keys.name as name', 'api_keys.created_at as createdAt'])
    .select(['expires_at', 'last_used_at', 'members.removed_at as makerLeftAt'])
    .where('api_keys.organization_id', '=', organizationId)
    .where('revoked_at', 'is', null)
    .where('disabled_at', 'is', null)
    .where('kind', 'is', null)
    .where(({ eb, or }) =>
      or([
        eb('expires_at', '<', nowMs + endsWithinMs),
        eb('members.removed_at', 'is not', null),
        eb('last_used_at', '<', nowMs - unusedForMs),
        eb.and([eb('last_used_at', 'is', null), eb('api_keys.created_at', '<', nowMs - unusedForMs)]),
      ]),
    )
  if (projects !== null) query = query.where('api_keys.project_id', 'in', projects)
  const ownerId = ownerReached(principal, 'api-keys:update')
  if (ownerId !== null) query = query.where('api_keys.owner_id', '=', ownerId)
  const rows = await query.orderBy('expires_at').orderBy('api_keys.id').limit(200).execute()
  const tasks = rows.flatMap(({ id, name, createdAt, expires_at, last_used_at, makerLeftAt }): Task[] => {
    const about = { id, name }
    if (expires_at !== null && expires_at <= nowMs) return []
    if (expires_at !== null && expires_at < nowMs + endsWithinMs) {
      return [{ kind: 'key-ends', ...about, at: toTime(Number(expires_at)) }]
    }
    if (makerLeftAt !== null) return [{ kind: 'key-of-gone-member', ...about, at: toTime(Number(makerLeftAt)) }]
    return [{ kind: 'key-unused', ...about, at: toTime(Number(last_used_at ?? createdAt)) }]
  })
  return [...Map.groupBy(tasks, ({ kind }) => kind).values()].flatMap((some) => some.slice(0, perKindMax))
}

/** Somebody waits for an answer. */
async function ofLimits({ parts, principal, organizationId }: Asking): Promise<Task[]> {
  if (!may(principal, 'limits:update', { organizationId })) return []
  const open = await readLimitRequests(parts.accounts.db, { organizationId, state: 'open' })
  return open.slice(0, perKindMax).map(({ id, apiKeyName, askedAtMs }) => {
    return { kind: 'limit-request', id, name: apiKeyName, at: toTime(askedAtMs) }
  })
}

/** One owner who loses their device leaves nobody who can make another one. */
async function ofOwners({ parts, principal, organizationId }: Asking): Promise<Task[]> {
  if (!may(principal, 'members:create', { organizationId })) return []
  const isAlone = (await countOwners(parts.accounts, organizationId)) === 1
  return isAlone ? [{ kind: 'second-owner', id: null, name: null, at: null }] : []
}

/** For who runs the installation, whichever organization they look at. */
async function ofInstallation({ parts, principal }: Asking): Promise<Task[]> {
  const inInstallation = parts.session?.principal ?? principal
  if (!may(inInstallation, 'installation:read', { organizationId: null })) return []
  const { management } = parts
  const { warnings } = await management.readSystem()
  const isOnStarter = management.fleet.read().files.every(({ weights }) => weights.isBuiltIn)
  const whole = { id: null, name: null, at: null }
  return [
    ...(isOnStarter && management.fleet.read().files.length > 0
      ? [{ kind: 'starter-weights' as const, ...whole }]
      : []),
    ...warnings.map((kind) => ({ kind, ...whole })),
  ]
}
