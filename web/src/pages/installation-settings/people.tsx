import { useState } from 'react'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import type { Schemas } from '../../api/types.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { Confirm } from '../../app/confirm.tsx'
import { readAll } from '../../app/queries.ts'
import { roleChoices, roleWords } from '../../app/roles.ts'
import { beyond, useGrantReason, useReason, useSession } from '../../app/session.ts'
import { Loaded } from '../../app/states.tsx'
import { useChange } from '../../app/use-change.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { Name } from '../../kit/content.tsx'
import { Checkbox, Select, TextField } from '../../kit/field.tsx'
import { Drawer, Menu } from '../../kit/layers.tsx'
import { Badge, Card } from '../../kit/page.tsx'
import { Table, type Column } from '../../kit/table.tsx'

type Person = Schemas['InstallationMember']
const givenRoles = ['owner', 'admin', 'auditor'] as const
type GivenRole = (typeof givenRoles)[number]

/** The roles of the installation, with the reason where one is not the reader's to give. */
function useChoices() {
  const grantReason = useGrantReason(null, 'installation:update')
  return roleChoices.flatMap(({ value, label }) => {
    const role = givenRoles.find((one) => one === value)
    return role === undefined ? [] : [{ value: role, label, reason: grantReason(role) }]
  })
}

const key = ['installation-members']
const touches = [key, ['session'], ['tasks']]

const peopleQuery = queryOptions({
  queryKey: key,
  queryFn: ({ signal }) =>
    readAll((after) =>
      api(
        'GET /api/v1/installation/members',
        { query: { limit: 200, ...(after !== undefined && { after }) } },
        { signal },
      ),
    ),
})

type Opened = { readonly kind: 'add' } | { readonly kind: 'change' | 'remove'; readonly person: Person }

/** Who runs the installation, whatever they are in organizations. */
export function People() {
  const query = useQuery(peopleQuery)
  const [opened, setOpened] = useState<Opened | null>(null)
  const reason = useReason(null, 'installation:update')
  const close = () => setOpened(null)
  return (
    <Card
      title="People who run this installation"
      isFlush={query.data !== undefined}
      actions={
        <Button isSmall icon="plus" reason={reason} onClick={() => setOpened({ kind: 'add' })}>
          Add somebody
        </Button>
      }
    >
      <Loaded query={query} what="The people who run this installation" rows={2}>
        {(people) => <PeopleTable people={people} reason={reason} onOpen={setOpened} />}
      </Loaded>
      {opened?.kind === 'add' && <AddDrawer onClose={close} />}
      {opened?.kind === 'change' && <RoleDrawer person={opened.person} onClose={close} />}
      {opened?.kind === 'remove' && <RemoveDialog person={opened.person} onClose={close} />}
    </Card>
  )
}

type TableProps = {
  readonly people: readonly Person[]
  readonly reason: string | null
  readonly onOpen: (opened: Opened) => void
}

function PeopleTable({ people, reason, onOpen }: TableProps) {
  const ownId = useSession()?.user.id
  const owners = people.filter(({ role }) => role === 'owner').length
  const grantReason = useGrantReason(null, 'installation:update')
  const lastReason = ({ name, role }: Person) => {
    if (role === 'owner' && owners === 1) return 'The installation keeps at least one owner.'
    return reason ?? (grantReason(role) === null ? null : `${name} ${beyond}.`)
  }
  const columns: readonly Column<Person>[] = [
    {
      key: 'name',
      head: 'Name',
      cell: ({ id, name }) => (
        <>
          <Name>{name}</Name> {id === ownId && <Badge>you</Badge>}
        </>
      ),
    },
    { key: 'email', head: 'Email', cell: ({ email }) => <Name>{email}</Name> },
    { key: 'role', head: 'Role', phone: 'side', cell: ({ role }) => labelOf(role) },
    {
      key: 'actions',
      head: '',
      isRight: true,
      phone: 'side',
      cell: (person) => (
        <Menu
          name={`Actions for ${person.name}`}
          trigger={<IconButton icon="more" name={`Actions for ${person.name}`} isSmall />}
          entries={[
            {
              kind: 'action',
              label: 'Change role…',
              reason: lastReason(person),
              act: () => onOpen({ kind: 'change', person }),
            },
            {
              kind: 'action',
              label: 'Take the role away…',
              reason: lastReason(person),
              isBad: true,
              act: () => onOpen({ kind: 'remove', person }),
            },
          ]}
        />
      ),
    },
  ]
  return <Table name="People who run this installation" columns={columns} items={people} keyOf={({ id }) => id} />
}

function labelOf(role: Person['role']): string {
  return roleChoices.find(({ value }) => value === role)?.label ?? role
}

const hint = (role: GivenRole) => `${roleWords[role]} In the whole installation, and at once.`

function AddDrawer({ onClose }: { readonly onClose: () => void }) {
  const [email, setEmail] = useState('')
  const [userId, setUserId] = useState<string | null>(null)
  const choices = useChoices()
  const [role, setRole] = useState<GivenRole>('admin')
  const body = { email: email.trim(), role, ...(userId !== null && { userId }) }
  const change = useChange((_: null, options) => api('POST /api/v1/installation/members', { body }, options), {
    touches,
    onDone: onClose,
  })
  const setAddress = (text: string) => {
    setEmail(text)
    setUserId(null)
    change.reset()
  }
  const reason = email.includes('@') ? null : 'An email address is needed.'
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
      Give the role
    </Button>
  )
  return (
    <Drawer
      title="Add somebody who runs this installation"
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={() => (reason === null ? void change.run(null) : undefined)}
    >
      <ChangeProblem problem={change.problem} shown={['email']} />
      <TextField
        label="Email"
        type="email"
        autoComplete="off"
        value={email}
        fault={change.faultOf('email')}
        onText={setAddress}
        hint="Of somebody who signs in here already. Others are invited to an organization first."
      />
      {(change.problem?.kind === 'conflict' || userId !== null) && (
        <Candidates email={body.email} chosen={userId} onChoice={setUserId} />
      )}
      <Select label="Role" value={role} choices={choices} onChoice={setRole} hint={hint(role)} />
    </Drawer>
  )
}

type CandidatesProps = {
  readonly email: string
  readonly chosen: string | null
  readonly onChoice: (userId: string | null) => void
}

/** Who signs in with an address that nobody vouches for: whoever gives them a role says that they mean this person. */
function Candidates({ email, chosen, onChoice }: CandidatesProps) {
  const query = useQuery({
    queryKey: ['installation-candidates', email],
    queryFn: ({ signal }) => api('GET /api/v1/installation/candidates', { query: { email } }, { signal }),
  })
  return (
    <Loaded query={query} what="Who signs in with this address" rows={1}>
      {({ data }) =>
        data.map(({ id, name, organizations }) => (
          <Checkbox
            key={id}
            label={`I mean ${name}, a member of ${organizations.map((one) => one.name).join(', ') || 'no organization'}.`}
            hint={id}
            isOn={chosen === id}
            onChange={(isOn) => onChoice(isOn ? id : null)}
          />
        ))
      }
    </Loaded>
  )
}

type PersonProps = { readonly person: Person; readonly onClose: () => void }

function RoleDrawer({ person: { id, name, role: known }, onClose }: PersonProps) {
  const choices = useChoices()
  const [role, setRole] = useState<GivenRole>(givenRoles.find((one) => one === known) ?? 'auditor')
  const change = useChange(
    (_: null) => api('PATCH /api/v1/installation/members/{userId}', { params: { userId: id }, body: { role } }),
    { touches, onDone: onClose },
  )
  const foot = (
    <Button type="submit" look="primary" isBusy={change.isBusy} reason={role === known ? 'Nothing was changed.' : null}>
      Save
    </Button>
  )
  return (
    <Drawer
      title={`Role of ${name}`}
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={() => (role === known ? undefined : void change.run(null))}
    >
      <ChangeProblem problem={change.problem} />
      <Select label="Role" value={role} choices={choices} onChoice={setRole} hint={hint(role)} />
    </Drawer>
  )
}

function RemoveDialog({ person: { id, name }, onClose }: PersonProps) {
  const change = useChange(
    (_: null) => api('DELETE /api/v1/installation/members/{userId}', { params: { userId: id } }),
    { touches, onDone: onClose },
  )
  return (
    <Confirm
      title={`Take the role of ${name} away`}
      verb="Take the role away"
      change={change}
      onClose={onClose}
      onConfirm={() => void change.run(null)}
    >
      They run the installation no longer, and management keys that they made for it are revoked. What they are in
      organizations stays.
    </Confirm>
  )
}
