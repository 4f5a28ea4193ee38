import type { RoleId } from '../../core/ids.ts'
import type { MemberPrincipal } from '../../core/principal.ts'

type RoleColumns = { readonly role_id: RoleId | null; readonly permissions: string | null }

/** What a role of the organization's own leaves of a member's role, as it stands beside the member. */
export function customOf({ role_id: id, permissions }: RoleColumns): Pick<MemberPrincipal, 'custom'> {
  return id === null || permissions === null ? {} : { custom: { id, permissions: JSON.parse(permissions) as string[] } }
}
