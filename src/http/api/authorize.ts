import type { FastifyRequest } from 'fastify'
import { isWellFormedKey } from '../../accounts/key-format.ts'
import { findManagementPrincipal } from '../../accounts/management-keys.ts'
import { requireOrganization } from '../../accounts/organizations.ts'
import { ApiError } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import {
  may,
  notFound,
  reaches,
  requirePermission,
  visibleProjects,
  type Permission,
  type Target,
} from '../../core/permission.ts'
import type { Session } from '../../accounts/sign-in/sessions.ts'
import type { ManagementKeyPrincipal, Principal } from '../../core/principal.ts'
import { formats } from '../../protocols/formats.ts'
import { credentials, type Credential, type RequestHead } from '../middleware/authenticate.ts'
import type { BrowserExchange } from './browser.ts'
import type { FailedAttempts } from './failed-attempts.ts'
import type { ManagementParts } from './parts.ts'
import type { Route, RouteParts, Scope } from './route.ts'

/** Who asks: a key, this machine's operator, or somebody who is signed in, whose part depends on what is asked for. */
export type Asker = { readonly principal: Principal } | { readonly session: Session }

/** What somebody has shown of who they are. */
type Shown = {
  readonly head: RequestHead & Pick<FastifyRequest, 'raw'>
  readonly browser: BrowserExchange
  /** Whether a session stays awake by it; absent where the request itself says so. */
  readonly keepsAwake?: boolean
}

/** Finds out who asks the management API; a key goes before a session. */
export async function findAsker(
  parts: Pick<ManagementParts, 'accounts' | 'signIn' | 'isOperator'>,
  attempts: FailedAttempts,
  { head, browser, ...how }: Shown,
): Promise<Asker> {
  if (parts.isOperator(head.raw)) return { principal: { kind: 'operator' } }
  const shown = credentials(head.headers, formats)
  if (shown.length === 0) {
    const session = await browser.findSession(parts, how)
    if (session !== null) return { session }
    throw refuse(null, 'Sign in, or send Authorization: Bearer <management key> or x-api-key.')
  }
  const found = await findAll(parts, shown)
  const [first] = found
  // Two that both work and differ: which of them a log or a proxy went by would be anybody's guess.
  const isOne = found.every(({ managementKeyId }) => managementKeyId === first?.managementKeyId)
  if (first !== undefined && isOne) {
    // Whoever is asked again for as long as an answer lasts has used the key once.
    if (how.keepsAwake !== false) parts.accounts.managementKeyUsed?.(first, head.ip)
    return { principal: first }
  }
  await attempts.hold(head.ip)
  const isApiKey = shown.some(({ key }) => isWellFormedKey(key))
  const message = isApiKey
    ? 'A key for models manages nothing: send a management key, which begins with sk-odym-.'
    : 'The management key is not valid.'
  throw refuse(shown[0] ?? null, message)
}

/** A way to ask, for as long as an answer lasts, whether what was shown still says the same of whoever asked. */
export function watchAsker(
  parts: Parameters<typeof findAsker>[0],
  attempts: FailedAttempts,
  shown: Shown,
  asker: Asker,
): () => Promise<boolean> {
  return async () => {
    try {
      const now = await findAsker(parts, attempts, { ...shown, keepsAwake: false })
      return describeAsker(now) === describeAsker(asker)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'unauthenticated') return false
      throw error
    }
  }
}

/** The part that somebody has, wherever they have one. */
function describeAsker(asker: Asker): string {
  if ('principal' in asker) return JSON.stringify(asker.principal)
  const { principal, memberships } = asker.session
  return JSON.stringify([principal, memberships.map((member) => member.principal)])
}

/**
 * Finds in which part somebody asks for a route, and that they may use it at all, before its body and what else its query
 * has are looked at. What the route's work finds it checks again, for itself.
 */
export async function authorize(
  parts: Pick<RouteParts, 'accounts'>,
  asker: Asker,
  route: Pick<Route, 'permission' | 'scope'>,
  params: Record<string, unknown>,
): Promise<Principal> {
  const { permission, scope } = route
  if (permission === 'public') return anonymous
  if (permission === 'self') {
    if ('session' in asker) return asker.session.principal
    throw refuse(null, 'This is for people who are signed in, and no key opens it.')
  }
  const target = typeof scope === 'function' ? await scope(parts, params) : null
  if (typeof scope === 'function' && target === null) throw notFound()
  const principal = 'session' in asker ? partOf(asker.session, { permission, scope, target, params }) : asker.principal
  await requireAccess(parts, principal, { permission, scope, target }, params)
  return principal
}

export const anonymous = { kind: 'anonymous', organizationId: null, role: null } as const

type Wanted = {
  readonly permission: Permission
  readonly scope: Scope
  readonly target: Target | null
  readonly params: Record<string, unknown>
}

/**
 * Finds whether a person asks as a member of an organization or by their role in the installation.
 *
 * The organization is that of what is asked for. Where nothing names one it is the person's first that lets them do it,
 * unless they have a role in the installation. That role counts too where the membership alone would not do, and first
 * where what the installation does is more than what the organization does for itself.
 */
function partOf({ principal, memberships }: Session, { permission, scope, target, params }: Wanted): Principal {
  const named = target?.organizationId ?? (params['organizationId'] as OrganizationId | undefined) ?? null
  if (scope === 'installation' || (named === null && principal.role !== null)) return principal
  const member =
    named === null
      ? (memberships.find((one) => reaches(one.principal, permission)) ?? memberships[0])
      : memberships.find(({ organizationId }) => organizationId === named)
  if (member === undefined) return principal
  if (principal.role === null) return member.principal
  const isFirst = installationFirst.has(permission) && may(principal, permission, member)
  return reaches(member.principal, permission) && !isFirst ? member.principal : principal
}

/** What the installation has set of these an organization does not change. */
const installationFirst: ReadonlySet<Permission> = new Set(['limits:update', 'budgets:update'])

async function findAll(
  { accounts }: Pick<ManagementParts, 'accounts'>,
  shown: readonly Credential[],
): Promise<ManagementKeyPrincipal[]> {
  const found: ManagementKeyPrincipal[] = []
  for (const { key } of shown) {
    const principal = await findManagementPrincipal(accounts, key)
    if (principal !== null) found.push(principal)
  }
  return found
}

function refuse(credential: Credential | null, message: string): ApiError {
  return new ApiError({ code: 'unauthenticated', key: credential?.shown ?? null }, message)
}

async function requireAccess(
  parts: Pick<RouteParts, 'accounts'>,
  principal: Principal,
  { permission, scope, target }: Omit<Wanted, 'params'>,
  params: Record<string, unknown>,
): Promise<void> {
  if (target !== null) return requirePermission(principal, permission, target)
  const id = params['organizationId'] as OrganizationId | undefined
  switch (scope) {
    case 'installation':
      // That there is an installation is no secret, so nothing is hidden here.
      if (may(principal, permission, { organizationId: null })) return
      throw new ApiError({ code: 'permission-denied' }, `This needs the permission ${permission}, of the installation.`)
    case 'own':
      if (id === undefined) return requireReach(principal, permission, organizationOf(principal))
      return requireInOrganization(parts, principal, permission, id)
    case 'organization':
      return requireInOrganization(parts, principal, permission, id as OrganizationId)
    case 'subject':
      requireReach(principal, permission, id as OrganizationId)
  }
}

async function requireInOrganization(
  { accounts }: Pick<RouteParts, 'accounts'>,
  principal: Principal,
  permission: Permission,
  id: OrganizationId,
): Promise<void> {
  requireReach(principal, permission, id)
  // Who belongs to an organization was found together with it, and reaches no other.
  if (organizationOf(principal) === null) await requireOrganization(accounts.db, id)
}

/** Throws unless the permission reaches the organization, or at least some of its projects. */
function requireReach(principal: Principal, permission: Permission, organizationId: OrganizationId | null): void {
  if (organizationId === null) requirePermission(principal, permission, { organizationId })
  else visibleProjects(principal, permission, organizationId)
}

/** Null is the whole installation. */
function organizationOf(principal: Principal): OrganizationId | null {
  return principal.kind === 'operator' ? null : principal.organizationId
}
