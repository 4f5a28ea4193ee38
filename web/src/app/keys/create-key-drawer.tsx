import { useState } from 'react'
import { addressOf, api } from '../../api/client.ts'
import { ChangeProblem } from '../change-problem.tsx'
import { Secret } from '../../lib/secret.ts'
import type { NewKey } from './key-once.tsx'
import { NameField, noRules, reasonOfRules, RulesFields, toRules } from './rules-fields.tsx'
import {
  useNoProjectReason,
  useOpenProjects,
  useMemberList,
  useServiceAccounts,
  type ServiceAccount,
} from '../queries.ts'
import { useMembership, useRights } from '../session.ts'
import { useChange } from '../use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Code } from '../../kit/content.tsx'
import { Select } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { Disclosure } from '../../kit/page.tsx'

export type CreateKeyProps = {
  readonly organizationId: string
  /** The program whose key it is to be, where that is settled. */
  readonly account?: ServiceAccount
  readonly onClose: () => void
  readonly onMade: (made: NewKey) => void
}
const path = '/api/v1/organizations/{organizationId}/api-keys'
const nobody = 'nobody'
const shownFaults = ['name', 'projectId', 'ownerId', 'serviceAccountId', 'expiresAt', 'addresses']

export function CreateKeyDrawer({ organizationId, account, onClose, onMade }: CreateKeyProps) {
  const [fields, setFields] = useState(noRules)
  const projects = useOpenProjects(organizationId)
  const [chosen, setProject] = useState<string | null>(null)
  const projectId = account?.projectId ?? chosen ?? projects[0]?.id ?? ''
  const self = useMembership(organizationId)?.memberId ?? nobody
  const [ownerId, setOwner] = useState(account?.id ?? self)
  const change = useChange(
    (body: Parameters<typeof bodyOf>[0], options) =>
      api(`POST ${path}`, { params: { organizationId }, body: bodyOf(body) }, options),
    {
      touches: [['keys', organizationId]],
      onDone: ({ apiKey, key }) => onMade({ name: apiKey.name, key: new Secret(key), organizationId }),
    },
  )
  const given = { fields, projectId, ownerId }
  const reason = useNoProjectReason(organizationId) ?? reasonOfRules(fields)
  const set = (changes: Partial<typeof fields>) => setFields({ ...fields, ...changes })
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Create key
    </Button>
  )
  return (
    <Drawer
      title={account === undefined ? 'Create key' : `Create key of “${account.name}”`}
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={() => (reason === null ? void change.run(given) : undefined)}
    >
      <ChangeProblem problem={change.problem} shown={shownFaults} />
      <NameField fields={fields} set={set} faultOf={change.faultOf} />
      {account === undefined && (
        <>
          <Select
            label="Project"
            value={projectId}
            choices={projects.map(({ id, name }) => ({ value: id, label: name }))}
            fault={change.faultOf('projectId')}
            onChoice={(id) => {
              setProject(id)
              // A program is of one project.
              if (ownerId.startsWith('svc_')) setOwner(self)
            }}
          />
          <OwnerField
            organizationId={organizationId}
            projectId={projectId}
            ownerId={ownerId}
            fault={change.faultOf('ownerId') ?? change.faultOf('serviceAccountId')}
            onChoice={setOwner}
          />
        </>
      )}
      <RulesFields fields={fields} set={set} faultOf={change.faultOf} />
      <Disclosure title="Show API call">
        <Code label="Shell" wraps text={curlOf(organizationId, bodyOf(given))} />
      </Disclosure>
    </Drawer>
  )
}

type OwnerProps = {
  readonly organizationId: string
  readonly projectId: string
  readonly ownerId: string
  readonly fault: string | undefined
  readonly onChoice: (id: string) => void
}

function OwnerField({ organizationId, projectId, ownerId, fault, onChoice }: OwnerProps) {
  const membership = useMembership(organizationId)
  const isForSelf = useRights(organizationId, 'api-keys:create')['api-keys:create'] === 'own'
  const members = useMemberList(organizationId)
  const others = members.filter(({ id, removedAt }) => id !== membership?.memberId && removedAt === null)
  const mine = membership === null ? [] : [{ value: membership.memberId, label: 'Me' }]
  const programs = useServiceAccounts(organizationId)
    .filter((one) => one.projectId === projectId && one.removedAt === null && one.disabledAt === null)
    .map(({ id, name }) => ({ value: id, label: `${name} (service account)` }))
  const people = others.map(({ id, name, email }) => ({ value: id, label: name || email }))
  const none = { value: nobody, label: 'Nobody (a program)' }
  const choices = isForSelf ? mine : [...mine, none, ...programs, ...people]
  return (
    <Select
      label="Owner"
      value={ownerId}
      choices={choices}
      fault={fault}
      onChoice={onChoice}
      hint={
        ownerId.startsWith('svc_')
          ? 'It is no person’s, and stays when people leave.'
          : 'When the owner leaves the organization, the key ends.'
      }
    />
  )
}

function bodyOf({
  fields,
  projectId,
  ownerId,
}: {
  readonly fields: typeof noRules
  readonly projectId: string
  readonly ownerId: string
}) {
  const { expiresAt, models, endpoints, addresses } = toRules(fields)
  return {
    name: fields.name.trim(),
    projectId,
    ...(ownerId.startsWith('svc_') ? { serviceAccountId: ownerId } : ownerId !== nobody && { ownerId }),
    // Said on purpose: an organization may not let keys go on without an end.
    expiresAt,
    ...(models !== null && { models }),
    ...(endpoints !== null && { endpoints }),
    ...(addresses !== null && { addresses }),
  }
}

function curlOf(organizationId: string, body: unknown): string {
  const address = window.location.origin + addressOf(path, { organizationId })
  return `curl ${address} \\
  -H "Authorization: Bearer $ODYSSEY_MANAGEMENT_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`
}
