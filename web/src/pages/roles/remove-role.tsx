import { api } from '../../api/client.ts'
import { Confirm } from '../../app/confirm.tsx'
import type { OwnRole } from '../../app/queries.ts'
import { useChange } from '../../app/use-change.ts'

export function RemoveRole({
  organizationId,
  role,
  onClose,
}: {
  readonly organizationId: string
  readonly role: OwnRole
  readonly onClose: () => void
}) {
  const change = useChange(
    (_: null, options) =>
      api(
        'DELETE /api/v1/organizations/{organizationId}/roles/{roleId}',
        { params: { organizationId, roleId: role.id } },
        options,
      ),
    { touches: [['roles', organizationId]], onDone: onClose },
  )
  return (
    <Confirm
      title={`Remove “${role.name}”`}
      verb="Remove role"
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      Nobody has it, so nobody may do less afterwards. It cannot be brought back, but made anew.
    </Confirm>
  )
}
