import { useReason, useSession } from '../session.ts'

/**
 * Tells why somebody may not change a limit or a budget of an organization, by who has set it; null where they may. What
 * the installation has set, members without a part in it do not change.
 */
export function useSetterReason(
  organizationId: string,
  permission: 'limits:update' | 'budgets:update',
): (setBy: 'installation' | 'organization') => string | null {
  const reason = useReason(organizationId, permission)
  const ofInstallation = useSession()?.installation?.permissions[permission] !== undefined
  return (setBy) => {
    if (reason !== null || setBy === 'organization' || ofInstallation) return reason
    return 'The installation has set this, and it alone changes it.'
  }
}
