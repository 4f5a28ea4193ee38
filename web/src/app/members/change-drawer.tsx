import { useState } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../kit/button.tsx'
import { CheckboxGroup, Select } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { ChangeProblem } from '../change-problem.tsx'
import { useProjects, useOwnRoles, type Member } from '../queries.ts'
import { roleChoices, roleWords } from '../roles.ts'
import { beyond, useGrantReason } from '../session.ts'
import { useChange } from '../use-change.ts'

export type MemberProps = { readonly organizationId: string; readonly member: Member; readonly onClose: () => void }

/** Gives a member another role, and shows projects to a developer. */
export function ChangeDrawer({ organizationId, member: now, onClose }: MemberProps) {
  // What somebody else changes meanwhile is not taken for what was changed here.
  const [member] = useState(now)
  const before = member.roleId ?? member.role
  const [role, setRole] = useState<string>(before)
  const own = useOwnRoles(organizationId)
  const [projectIds, setProjects] = useState<readonly string[]>(member.projectIds)
  const projects = useProjects(organizationId)
  const grantReason = useGrantReason(organizationId, 'members:update')
  const params = { organizationId, memberId: member.id }
  const change = useChange(
    async (_: null) => {
      if (role !== before)
        await api('PATCH /api/v1/organizations/{organizationId}/members/{memberId}', { params, body: { role } })
      const path = '/api/v1/organizations/{organizationId}/projects/{projectId}/members/{memberId}'
      const added = projectIds.filter((id) => !member.projectIds.includes(id))
      const gone = member.projectIds.filter((id) => !projectIds.includes(id))
      for (const projectId of added) await api(`PUT ${path}`, { params: { ...params, projectId } })
      for (const projectId of gone) await api(`DELETE ${path}`, { params: { ...params, projectId } })
    },
    {
      touches: [
        ['members', organizationId],
        ['member', organizationId],
        ['roles', organizationId],
      ],
      onDone: onClose,
    },
  )
  const builtIn = roleChoices.find(({ value }) => value === role)?.value
  const part = own.find(({ id }) => id === role)
  const said =
    builtIn !== undefined
      ? roleWords[builtIn]
      : `A part of ${part?.base ?? member.role}: ${part?.permissions.length ?? 'some'} of what it may.`
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy}>
      Save
    </Button>
  )
  return (
    <Drawer
      title={`Role and projects of ${member.name}`}
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={() => void change.run(null)}
    >
      <ChangeProblem problem={change.problem} />
      <Select
        label="Role"
        value={role}
        choices={[
          ...roleChoices.map((choice) => ({ ...choice, reason: grantReason(choice.value) })),
          ...own.map(({ id, name, isGivable }) => ({ value: id, label: name, reason: isGivable ? null : beyond })),
        ]}
        onChoice={setRole}
        hint={`${said} It counts at once, for open sessions too.`}
      />
      <CheckboxGroup
        label="Projects that a developer sees"
        choices={projects.map(({ id, name }) => ({ value: id, label: name }))}
        chosen={projectIds}
        onChange={setProjects}
      />
    </Drawer>
  )
}
