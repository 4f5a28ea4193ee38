import { useState } from 'react'
import { api } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { useOpenProjects } from '../../app/queries.ts'
import { isShownProjects, roleChoices, roleWords, type Role } from '../../app/roles.ts'
import { useGrantReason, useSession } from '../../app/session.ts'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { CheckboxGroup, Select, TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { Banner } from '../../kit/page.tsx'
import { Secret } from '../../lib/secret.ts'
import { MadeLink, type Made } from './made-link.tsx'

/** The link is shown once, to be given to whoever is invited, or mailed to them where the operator has a relay. */
export function InviteDrawer({
  organizationId,
  onClose,
}: {
  readonly organizationId: string
  readonly onClose: () => void
}) {
  const [email, setEmail] = useState('')
  const [projectIds, setProjects] = useState<readonly string[]>([])
  const [made, setMade] = useState<readonly Made[]>([])
  const projects = useOpenProjects(organizationId)
  const canMail = useSession()?.features.mail ?? false
  const grantReason = useGrantReason(organizationId, 'members:create')
  const choices = roleChoices.map((choice) => ({ ...choice, reason: grantReason(choice.value) }))
  const [chosen, setRole] = useState<Role>('developer')
  const role = grantReason(chosen) === null ? chosen : choices.find(({ reason }) => reason === null)?.value
  const change = useChange(
    (body: { readonly email: string; readonly role: Role; readonly projectIds: readonly string[] }, options) =>
      api('POST /api/v1/organizations/{organizationId}/invitations', { params: { organizationId }, body }, options),
    {
      touches: [['invitations', organizationId]],
      onDone: ({ invitation, link }) => {
        setMade([...made, { id: invitation.id, email: invitation.email, link: new Secret(link) }])
        setEmail('')
      },
    },
  )
  const missing = email.includes('@') ? null : 'An email address is needed.'
  const reason = role === undefined ? 'Every role may do more than you, so there is none that you can give.' : missing
  const foot = (
    <>
      {made.length > 0 && <Button onClick={onClose}>Done</Button>}
      <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
        {made.length > 0 ? 'Invite another' : 'Invite'}
      </Button>
    </>
  )
  const invite = () => {
    if (reason !== null || role === undefined) return
    void change.run({ email: email.trim(), role, projectIds: isShownProjects(role) ? projectIds : [] })
  }
  return (
    <Drawer
      title="Invite"
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={invite}
      said="The link works once, for 7 days."
    >
      {made.length > 0 && (
        <Banner kind="warn">
          {canMail ? 'Mail each link, or give it to whom it is for.' : 'Give each link to whom it is for.'} It is shown
          only now.
        </Banner>
      )}
      {made.map((one) => (
        <MadeLink key={one.id} organizationId={organizationId} made={one} canMail={canMail} />
      ))}
      <ChangeProblem problem={change.problem} shown={['email']} />
      <TextField
        label="Email"
        type="email"
        autoComplete="off"
        value={email}
        fault={change.faultOf('email')}
        onText={setEmail}
      />
      <Select
        label="Role"
        value={role ?? chosen}
        choices={choices}
        onChoice={setRole}
        hint={roleWords[role ?? chosen]}
      />
      {role !== undefined && isShownProjects(role) && (
        <CheckboxGroup
          label="Projects that they see"
          choices={projects.map(({ id, name }) => ({ value: id, label: name }))}
          chosen={projectIds}
          onChange={setProjects}
        />
      )}
    </Drawer>
  )
}
