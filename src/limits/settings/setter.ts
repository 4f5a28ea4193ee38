import { ApiError } from '../../core/error.ts'
import type { LimitSetter } from '../../core/limit.ts'
import { isOfInstallation } from '../../core/permission.ts'
import type { Principal } from '../../core/principal.ts'

/** For whom somebody sets a limit or a budget. */
export function setterOf(principal: Principal): LimitSetter {
  return isOfInstallation(principal) ? 'installation' : 'organization'
}

/** Throws where an organization would change what holds it back on the installation's behalf. */
export function requireSetter(principal: Principal, set_by: LimitSetter | null): void {
  if (set_by !== 'installation' || isOfInstallation(principal)) return
  throw new ApiError({ code: 'permission-denied' }, 'The installation has set this, and it alone changes it.')
}
