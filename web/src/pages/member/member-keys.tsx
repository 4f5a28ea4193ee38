import { OwnedKeys } from '../../app/keys/owned-keys.tsx'
import { useKeyList } from '../../app/queries.ts'
import { useReason } from '../../app/session.ts'

type Props = { readonly organizationId: string; readonly memberId: string }

/** The keys that end with their owner. */
export function MemberKeys({ organizationId, memberId }: Props) {
  const reason = useReason(organizationId, 'api-keys:read')
  const keys = useKeyList(organizationId).filter(({ ownerId }) => ownerId === memberId)
  return reason === null ? <OwnedKeys organizationId={organizationId} title="Keys they own" keys={keys} /> : null
}
