import { useState } from 'react'
import { api, type BodyOf } from '../../api/client.ts'
import { NameField, useTypedName } from '../../app/name-drawer.tsx'
import { pagePath } from '../../app/paths.ts'
import { useNoProjectReason, useOpenProjects } from '../../app/queries.ts'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Select } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { location } from '../../lib/location.ts'

/** Makes an account of a program, and leads to its page, where it gets its keys. */
export function CreateAccountDrawer({
  organizationId,
  onClose,
}: {
  readonly organizationId: string
  readonly onClose: () => void
}) {
  const { name, typed, onText, missing } = useTypedName('')
  const projects = useOpenProjects(organizationId)
  const [chosen, setProject] = useState<string | null>(null)
  const projectId = chosen ?? projects[0]?.id ?? ''
  const change = useChange(
    (body: BodyOf<'POST /api/v1/organizations/{organizationId}/service-accounts'>, options) =>
      api(
        'POST /api/v1/organizations/{organizationId}/service-accounts',
        { params: { organizationId }, body },
        options,
      ),
    {
      touches: [['service-accounts', organizationId]],
      onDone({ id }) {
        onClose()
        void location.go(pagePath('serviceAccount', { organizationId, serviceAccountId: id }))
      },
    },
  )
  const noProject = useNoProjectReason(organizationId)
  const reason = missing ?? noProject
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Create service account
    </Button>
  )
  return (
    <Drawer
      title="Create service account"
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={() => (reason === null ? void change.run({ name, projectId }) : undefined)}
    >
      <NameField typed={typed} onText={onText} change={change} hint="Of the program, such as Search in production." />
      <Select
        label="Project"
        value={projectId}
        choices={projects.map(({ id, name: label }) => ({ value: id, label }))}
        fault={change.faultOf('projectId')}
        onChoice={setProject}
        hint="Its keys are of this project, under whose limits and budgets they ask. It cannot be changed later."
      />
    </Drawer>
  )
}
