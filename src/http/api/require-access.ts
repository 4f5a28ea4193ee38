import { requireSubject } from '../../accounts/require-subject.ts'
import { ApiError } from '../../core/error.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { may, notFound, requirePermission, visibleProjects, type Permission } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'
import type { Route, RouteParts } from './route.ts'

/**
 * Asks for a route's permission before its query and its body are looked at.
 *
 * It says whether the principal may do this at all where it asks to; what the
 * route's work finds it checks again, for itself.
 */
export async function requireAccess(
  parts: Pick<RouteParts, 'accounts'>,
  principal: Principal,
  { permission, scope }: Pick<Route, 'permission' | 'scope'>,
  params: Record<string, unknown>,
): Promise<void> {
  if (typeof scope === 'function') {
    const target = await scope(parts, params)
    if (target === null) throw notFound()
    return requirePermission(principal, permission, target)
  }
  switch (scope) {
    case 'installation':
      // That there is an installation is no secret, so nothing is hidden here.
      if (may(principal, permission, { organizationId: null })) return
      throw new ApiError({ code: 'permission-denied' }, `This needs the permission ${permission}, of the installation.`)
    case 'own':
      return requireReach(principal, permission, organizationOf(principal))
    case 'organization': {
      const id = params['organizationId'] as OrganizationId
      requireReach(principal, permission, id)
      await requireSubject(parts.accounts.db, id, { kind: 'organization', id })
    }
  }
}

/** Also true for a permission that reaches only some of the organization's projects. */
function requireReach(principal: Principal, permission: Permission, organizationId: OrganizationId | null): void {
  if (organizationId === null) requirePermission(principal, permission, { organizationId })
  else visibleProjects(principal, permission, organizationId)
}

/** Null is the whole installation. */
export function organizationOf(principal: Principal): OrganizationId | null {
  return principal.kind === 'operator' ? null : principal.organizationId
}
