import type { ApiKey } from '../queries.ts'
import { reasonOf, useMembership, useSession } from '../session.ts'

/** What is done to a key that is there. */
export type KeyVerb = 'update' | 'rotate' | 'disable' | 'revoke'

/**
 * Tells why somebody may not do this to a key; null where they may. Some roles may do it to what is their own alone.
 *
 * A list asks once for all of its keys, of which there may be thousands.
 */
export function useKeyReasons(
  organizationId: string,
): (verb: KeyVerb, apiKey: Pick<ApiKey, 'ownerId'>) => string | null {
  const session = useSession()
  const membership = useMembership(organizationId)
  return (verb, { ownerId }) => {
    const permission = `api-keys:${verb}`
    const isOfAll = session?.installation?.permissions[permission] !== undefined
    const isForOwn = !isOfAll && membership?.permissions[permission] === 'own'
    if (isForOwn && ownerId !== membership.memberId) return 'The key is not yours.'
    return reasonOf(session, organizationId, permission)
  }
}
