import type { ApiKey } from '../queries.ts'
import { useMembership, useReason, useSession } from '../session.ts'

/** Tells why somebody may not do this to a key; null where they may. Some roles may do it to what is their own alone. */
export function useKeyReason(
  organizationId: string,
  permission: string,
): (apiKey: Pick<ApiKey, 'ownerId'>) => string | null {
  const reason = useReason(organizationId, permission)
  const membership = useMembership(organizationId)
  const isOfAll = useSession()?.installation?.permissions[permission] !== undefined
  const isForOwn = !isOfAll && membership?.permissions[permission] === 'own'
  return ({ ownerId }) => reason ?? (isForOwn && ownerId !== membership.memberId ? 'The key is not yours.' : null)
}
