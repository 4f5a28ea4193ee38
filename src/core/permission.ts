import { ApiError } from './error.ts'
import type { MemberId, OrganizationId, ProjectId } from './ids.ts'
import type { CustomRole, MemberPrincipal, Principal } from './principal.ts'
import type { Role } from './role.ts'

/**
 * The reach of a role's permission.
 *
 *     installation   any organization, and only for management keys that belong to none
 *     organization   everything in the principal's own organization
 *     projects       what belongs to a project that the developer may see
 *     own            what belongs to the member, in such a project
 *     none           nothing
 */
export type Reach = 'installation' | 'organization' | 'projects' | 'own' | 'none'
type Row = Readonly<Record<Role, Reach>>

const everyone: Row = {
  owner: 'organization',
  admin: 'organization',
  developer: 'organization',
  billing: 'organization',
  auditor: 'organization',
}
const administrators: Row = {
  owner: 'organization',
  admin: 'organization',
  developer: 'none',
  billing: 'none',
  auditor: 'none',
}
const owners: Row = { ...administrators, admin: 'none' }
const installation: Row = {
  owner: 'installation',
  admin: 'installation',
  developer: 'none',
  billing: 'none',
  auditor: 'none',
}
const installationReaders: Row = { ...installation, auditor: 'installation' }
/** The operator alone, who has the command line of the machine. */
const nobody: Row = { ...administrators, owner: 'none', admin: 'none' }
const accountants: Row = { ...administrators, billing: 'organization' }

const table = {
  'organizations:read': everyone,
  'organizations:update': administrators,
  'organizations:create': installation,
  'organizations:disable': installation,
  'settings:read': { ...administrators, auditor: 'organization' },
  'settings:update': administrators,
  'projects:read': { ...everyone, developer: 'projects' },
  'projects:create': administrators,
  'projects:update': administrators,
  'projects:archive': administrators,
  'members:read': { ...administrators, auditor: 'organization' },
  'members:create': administrators,
  'members:update': administrators,
  'members:remove': administrators,
  'api-keys:read': { ...administrators, developer: 'projects', auditor: 'organization' },
  'api-keys:create': { ...administrators, developer: 'own' },
  'api-keys:update': { ...administrators, developer: 'own' },
  'api-keys:rotate': { ...administrators, developer: 'own' },
  'api-keys:disable': { ...administrators, developer: 'own' },
  'api-keys:revoke': { ...administrators, developer: 'own' },
  'service-accounts:read': { ...administrators, developer: 'projects', auditor: 'organization' },
  'service-accounts:create': administrators,
  'service-accounts:update': administrators,
  'service-accounts:remove': administrators,
  'models:use': { ...administrators, developer: 'projects' },
  'roles:read': { ...administrators, auditor: 'organization' },
  'roles:create': administrators,
  'roles:update': administrators,
  'roles:remove': administrators,
  'sessions:read': { ...administrators, auditor: 'organization' },
  'sessions:revoke': administrators,
  'management-keys:read': { ...administrators, auditor: 'organization' },
  'management-keys:create': owners,
  'management-keys:revoke': administrators,
  'connections:read': { ...administrators, auditor: 'organization' },
  'connections:create': administrators,
  'connections:update': administrators,
  'connections:remove': administrators,
  'connections:enforce': owners,
  'directories:read': { ...administrators, auditor: 'organization' },
  'directories:create': owners,
  'directories:update': owners,
  'directories:remove': owners,
  'limits:read': { ...everyone, developer: 'projects' },
  'limits:update': administrators,
  'limits:ask': { ...administrators, developer: 'projects' },
  'tiers:read': everyone,
  'tiers:update': installation,
  'tiers:assign': installation,
  'budgets:read': { ...everyone, developer: 'projects' },
  'budgets:update': accountants,
  'alerts:read': { ...accountants, auditor: 'organization' },
  'alerts:update': accountants,
  'alert-channels:read': { ...administrators, auditor: 'organization' },
  'alert-channels:update': administrators,
  'usage:read': { ...everyone, developer: 'projects' },
  'refusals:read': { ...accountants, auditor: 'organization' },
  'requests:read': { ...administrators, developer: 'projects', auditor: 'organization' },
  'recordings:read': { ...administrators, developer: 'own' },
  'recordings:update': owners,
  'prices:read': everyone,
  'prices:update': installation,
  'availability:read': { ...accountants, auditor: 'organization' },
  'objectives:update': installation,
  'invoices:read': { ...accountants, auditor: 'organization' },
  'invoices:adjust': installation,
  'audit:read': { ...administrators, auditor: 'organization' },
  'audit-sinks:read': { ...administrators, auditor: 'organization' },
  'audit-sinks:update': administrators,
  'engines:read': installationReaders,
  'engines:update': installation,
  'installation:read': installationReaders,
  'installation:update': installation,
  'weights:read': nobody,
  'weights:update': nobody,
} as const satisfies Record<string, Row>

/** What may be done, as `resource:verb`. */
export type Permission = keyof typeof table
export const permissions = Object.keys(table) as readonly Permission[]

/** What people have said to a model is for the organization alone: whoever runs the installation has no part in it. */
const confidential: ReadonlySet<Permission> = new Set<Permission>(['recordings:read', 'recordings:update'])

/** How far a permission reaches in each role. */
export function reachByRole(permission: Permission): Row {
  return table[permission]
}

/** The owner of what something is done to; null where it belongs to none. */
export type Target = {
  readonly organizationId: OrganizationId | null
  readonly projectId?: ProjectId | null
  readonly ownerId?: MemberId | null
}

/** Tells whether this principal may do this. An API key asks models and nothing else; the operator may do everything. */
export function may(principal: Principal, permission: Permission, target: Target): boolean {
  if (principal.kind === 'operator') return true
  if (principal.kind === 'api-key' || principal.role === null) return false
  const isInstallation = principal.organizationId === null
  const reach = reachOf(principal, permission)
  if (reach === 'none' || !belongs(principal, target)) return false
  if (isInstallation && confidential.has(permission)) return false
  if (reach === 'installation') return isInstallation
  if (reach === 'organization') return true
  // A management key stands for no member, so it has neither projects nor anything of its own.
  if (principal.kind !== 'member' || !principal.projectIds.some((id) => id === target.projectId)) return false
  return reach === 'projects' || target.ownerId === principal.memberId
}

/** How far a permission reaches for somebody: as in their role, or not at all where a role of their own leaves it out. */
function reachOf(principal: Principal, permission: Permission): Reach {
  if (principal.kind === 'operator') return 'installation'
  if (principal.kind === 'api-key' || principal.role === null) return 'none'
  return reachIn(principal.role, permission, principal.kind === 'member' ? principal.custom : undefined)
}

function reachIn(role: Role, permission: Permission, custom: Pick<CustomRole, 'permissions'> | undefined): Reach {
  return custom === undefined || custom.permissions.includes(permission) ? table[permission][role] : 'none'
}

const order: readonly Reach[] = ['none', 'own', 'projects', 'organization', 'installation']

/** Tells whether somebody may do everything that a role may, or that part of it which a role of an organization leaves. */
export function covers(principal: Principal, role: Role, custom?: Pick<CustomRole, 'permissions'>): boolean {
  return permissions.every((permission) => {
    const wanted = reachIn(role, permission, custom)
    // What reaches the installation alone reaches nothing in an organization.
    return wanted === 'installation' || order.indexOf(wanted) <= order.indexOf(reachOf(principal, permission))
  })
}

/** Tells whether somebody with this role sees only the projects that they were shown; the others see all of them. */
export function isShownProjects(role: Role): boolean {
  return table['projects:read'][role] === 'projects'
}

/** Tells whether a principal's role has a permission, for whatever part of the organization. */
export function reaches(principal: MemberPrincipal, permission: Permission): boolean {
  const reach = reachOf(principal, permission)
  return reach !== 'none' && reach !== 'installation'
}

/** What a role may do at all in its organization, or in the installation, with how far each permission reaches. */
export function reachesOf(
  role: Role,
  where: 'organization' | 'installation',
  custom?: CustomRole,
): Readonly<Record<string, Reach>> {
  const reaches = permissions.map((permission) => [permission, reachIn(role, permission, custom)] as const)
  return Object.fromEntries(
    reaches.filter(([permission, reach]) => {
      if (where === 'organization') return reach !== 'none' && reach !== 'installation'
      return reach !== 'none' && !confidential.has(permission)
    }),
  )
}

/** Tells whether somebody belongs to no organization and acts for whoever runs the installation. */
export function isOfInstallation(principal: Principal): boolean {
  if (principal.kind === 'operator') return true
  return principal.kind !== 'api-key' && principal.role !== null && principal.organizationId === null
}

/** Tells whether the principal can know of an organization at all: to everyone else it does not exist. */
export function belongs(principal: Principal, { organizationId }: Pick<Target, 'organizationId'>): boolean {
  return isOfInstallation(principal) || (principal.kind !== 'operator' && principal.organizationId === organizationId)
}

/** Asked before anything is changed or read. What a principal may not know of is not there for it. */
export function requirePermission(principal: Principal, permission: Permission, target: Target): void {
  if (!belongs(principal, target) || isHidden(principal, permission, target)) throw notFound()
  if (!may(principal, permission, target)) {
    throw new ApiError({ code: 'permission-denied' }, `This needs the permission ${permission}.`)
  }
}

/** A developer is not told what there is in other projects. */
function isHidden(principal: Principal, permission: Permission, { projectId }: Target): boolean {
  if (principal.kind !== 'member' || projectId === undefined || projectId === null) return false
  const reach = reachOf(principal, permission)
  return (reach === 'projects' || reach === 'own') && !principal.projectIds.includes(projectId)
}

/** Finds the projects that a list may show: null is every one in the organization. Throws for a role that may see none. */
export function visibleProjects(
  principal: Principal,
  permission: Permission,
  organizationId: OrganizationId,
): readonly ProjectId[] | null {
  if (principal.kind === 'member' && belongs(principal, { organizationId })) {
    const reach = reachOf(principal, permission)
    if (reach === 'projects' || reach === 'own') return principal.projectIds
  }
  requirePermission(principal, permission, { organizationId })
  return null
}

/**
 * As `visibleProjects`, for what is shown beside other things and left out for a role that may see none of it: undefined
 * is nothing at all.
 */
export function seenProjects(
  principal: Principal,
  permission: Permission,
  organizationId: OrganizationId,
): readonly ProjectId[] | null | undefined {
  const sees =
    principal.kind === 'member' ? reaches(principal, permission) : may(principal, permission, { organizationId })
  return sees ? visibleProjects(principal, permission, organizationId) : undefined
}

/** The member whose own things alone a permission reaches; null where it makes no difference whose they are. */
export function ownerReached(principal: Principal, permission: Permission): MemberId | null {
  return principal.kind === 'member' && reachOf(principal, permission) === 'own' ? principal.memberId : null
}

/** Narrows the projects that are asked for to those that a list may show; undefined is every one in the organization. */
export function narrowProjects(
  principal: Principal,
  permission: Permission,
  {
    organizationId,
    projectIds,
  }: { readonly organizationId: OrganizationId; readonly projectIds?: readonly ProjectId[] },
): readonly ProjectId[] | undefined {
  const visible = visibleProjects(principal, permission, organizationId)
  if (visible === null) return projectIds
  return projectIds?.filter((id) => visible.includes(id)) ?? visible
}

/** The same error stands for what never was and for what belongs to somebody else. */
export function notFound(): ApiError {
  return new ApiError({ code: 'not-found' }, 'There is no such thing.')
}
