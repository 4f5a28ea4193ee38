import { z } from 'zod'
import { mayGive } from '../../../accounts/members.ts'
import type { Session } from '../../../accounts/sign-in/sessions.ts'
import type { OrganizationId, ProjectId } from '../../../core/ids.ts'
import { may, reachesOf } from '../../../core/permission.ts'
import type { MemberPrincipal, Principal } from '../../../core/principal.ts'
import { roles, type Role } from '../../../core/role.ts'
import type { RouteParts } from '../route.ts'
import { id, memberId, organizationId, projectId, role, time, toTime, toTimeOrNull } from '../schemas.ts'
import { method } from './schemas.ts'

const reach = z.enum(['installation', 'organization', 'projects', 'own'])
const permissions = z
  .record(z.string(), reach)
  .describe('By permission, how far it reaches; what is not there is not given.')

const gives = z.array(role).describe('The built-in roles that the person may give to others, and take from them.')

/** How a person wants pages to look. */
export const preferences = z
  .strictObject({
    theme: z.enum(['system', 'light', 'dark']),
    zone: z.string().max(64).nullable().describe('An IANA time zone; null is the browser’s own.'),
    rows: z.enum(['comfortable', 'compact']),
    shortcuts: z.boolean().describe('Whether single letters are shortcuts.'),
  })
  .meta({ id: 'Preferences' })

const preferencesAtFirst = { theme: 'system', zone: null, rows: 'comfortable', shortcuts: true } as const

export function readPreferences(text: string): z.output<typeof preferences> {
  return preferences.parse({ ...preferencesAtFirst, ...(JSON.parse(text) as object) })
}

const membership = z.strictObject({
  organizationId,
  organizationName: z.string(),
  memberId,
  role,
  projectIds: z.array(projectId),
  permissions,
  gives,
  owners: z.array(z.strictObject({ name: z.string() })).describe('Who has every permission: the owners.'),
  recordedUntil: time
    .nullable()
    .describe('Until when what is said is kept in a project that the person sees; null where it is in none.'),
  needsProof: z
    .strictObject({ connectionId: id('conn') })
    .nullable()
    .describe('The connection by which the organization has to be entered; nothing is permitted there until then.'),
})

export const sessionSchema = z
  .strictObject({
    user: z.strictObject({ id: id('usr'), name: z.string(), email: z.string() }),
    memberships: z.array(membership),
    installation: z.strictObject({ role, permissions, gives }).nullable(),
    proof: z.strictObject({ method, at: time, freshUntil: time }),
    idleEndsAt: time,
    endsAt: time,
    preferences,
    features: z.strictObject({
      recording: z.boolean(),
      prices: z.boolean(),
      publicPrices: z.boolean(),
      portal: z.boolean(),
      sso: z.boolean(),
      mail: z.boolean().describe('Whether invitations can be mailed.'),
      passwords: z.boolean(),
    }),
    currency: z.string().describe('Of all prices and amounts of the installation, as its three letters.'),
    build: z.string(),
  })
  .meta({ id: 'Session' })

type Described = z.input<typeof sessionSchema>

/** Says who is signed in: the only source of what a page shows and hides. */
export async function describeSession(parts: RouteParts, session: Session): Promise<Described> {
  const { principal, proof } = session
  const owners = await readOwners(parts, session)
  const recorded = await readRecorded(parts, session)
  const hasPrices = await parts.accounts.db.selectFrom('prices').select('id').limit(1).executeTakeFirst()
  return {
    user: session.user,
    memberships: [
      ...session.memberships.map(({ organizationName, principal: member }) => ({
        organizationId: member.organizationId,
        organizationName,
        memberId: member.memberId,
        role: member.role,
        projectIds: [...member.projectIds],
        permissions: reachesOf(
          member.role,
          'organization',
          member.custom,
        ) as Described['memberships'][number]['permissions'],
        gives: rolesGivenBy(member),
        owners: (owners.get(member.organizationId) ?? []).map(({ name }) => ({ name })),
        recordedUntil: toTimeOrNull(latestOf(recorded.get(member.organizationId) ?? [], member)),
        needsProof: null,
      })),
      ...session.closed.map(({ connectionId, ...closed }) => ({
        ...closed,
        projectIds: [],
        permissions: {},
        gives: [],
        owners: [],
        recordedUntil: null,
        needsProof: { connectionId },
      })),
    ],
    installation:
      principal.role === null
        ? null
        : {
            role: principal.role,
            permissions: reachesOf(principal.role, 'installation') as Record<string, never>,
            gives: rolesGivenBy(principal),
          },
    proof: { method: proof.method, at: toTime(proof.atMs), freshUntil: toTime(proof.freshUntilMs) },
    idleEndsAt: toTime(session.idleEndsAtMs),
    endsAt: toTime(session.endsAtMs),
    preferences: readPreferences(session.preferences),
    features: {
      recording: parts.management.recordingKey !== null,
      prices: hasPrices !== undefined,
      publicPrices: parts.management.arePricesPublic,
      portal: true,
      sso: true,
      mail: parts.management.mailer !== null && parts.management.publicUrl !== null,
      passwords: parts.management.signIn.passwords !== 'off',
    },
    currency: parts.accounts.currency,
    build: parts.management.version,
  }
}

function rolesGivenBy(principal: Principal): Role[] {
  return roles.filter((one) => mayGive(principal, one))
}

const ownersMax = 200

async function readOwners({ accounts }: RouteParts, { memberships }: Session) {
  const ids: readonly OrganizationId[] = memberships.map(({ organizationId: own }) => own)
  if (ids.length === 0) return new Map<OrganizationId, { readonly name: string }[]>()
  const rows = await accounts.db
    .selectFrom('members')
    .select(['organization_id', 'name'])
    .where('organization_id', 'in', ids)
    .where('role', '=', 'owner')
    .where('removed_at', 'is', null)
    .orderBy('created_at')
    .limit(ownersMax)
    .execute()
  return Map.groupBy(rows, (row) => row.organization_id)
}

type Recorded = { readonly id: ProjectId; readonly recorded_until: number | null }

/** The projects of the person’s organizations in which what is said is kept at the moment. */
async function readRecorded({ accounts }: RouteParts, { memberships }: Session) {
  const ids: readonly OrganizationId[] = memberships.map(({ organizationId: own }) => own)
  if (ids.length === 0) return new Map<OrganizationId, Recorded[]>()
  const rows = await accounts.db
    .selectFrom('projects')
    .select(['organization_id', 'id', 'recorded_until'])
    .where('organization_id', 'in', ids)
    .where('recorded_until', '>', accounts.clock.nowMs())
    .execute()
  return Map.groupBy(rows, (row) => row.organization_id)
}

function latestOf(projects: readonly Recorded[], member: MemberPrincipal): number | null {
  const { organizationId: own } = member
  const seen = projects.filter((project) =>
    may(member, 'projects:read', { organizationId: own, projectId: project.id }),
  )
  return seen.length === 0 ? null : Math.max(...seen.map(({ recorded_until }) => recorded_until ?? 0))
}
