import { useState } from 'react'
import { api, type AnswerOf, type BodyOf } from '../../api/client.ts'
import { ChangeProblem } from '../../app/change-problem.tsx'
import { groupPermissions, wordsOfPermission } from './permission-words.ts'
import { useMemberList, type OwnRole } from '../../app/queries.ts'
import { roleChoices, roleWords, type Role } from '../../app/roles.ts'
import { reasonOf, useSession } from '../../app/session.ts'
import { useChange } from '../../app/use-change.ts'
import { Button } from '../../kit/button.tsx'
import { Name } from '../../kit/content.tsx'
import { CheckboxGroup, Select, TextField } from '../../kit/field.tsx'
import { Drawer } from '../../kit/layers.tsx'
import { Banner, Row, Stack } from '../../kit/page.tsx'
import { formatCounted } from '../../format/figures.ts'

export type Line = AnswerOf<'GET /api/v1/permissions'>['permissions'][number]
type Base = BodyOf<'POST /api/v1/organizations/{organizationId}/roles'>['base']

const bases: readonly { readonly value: Base; readonly label: string }[] = roleChoices.flatMap(({ value, label }) =>
  value === 'owner' ? [] : [{ value, label }],
)

/** The permissions that a built-in role has in its organization, of which a part can be left. */
export function chooseFrom(lines: readonly Line[], base: Role): readonly Line[] {
  return lines.filter(({ reaches }) => reaches[base] !== 'none' && reaches[base] !== 'installation')
}

type Props = {
  readonly organizationId: string
  readonly lines: readonly Line[]
  /** The role that is changed; null for a new one. */
  readonly role: OwnRole | null
  /** The role that a new one begins as. */
  readonly like: OwnRole | null
  readonly onClose: () => void
}

/** Makes a role or changes one: the permissions in words, and whom a change concerns. */
export function RoleDrawer({ organizationId, lines, role, like, onClose }: Props) {
  const origin = role ?? like
  const [name, setName] = useState(role?.name ?? '')
  const [base, setBase] = useState<Role>(origin?.base ?? 'admin')
  const [chosen, setChosen] = useState<readonly string[]>(origin?.permissions ?? [])
  const session = useSession()
  const mayGive = (line: Line) => reasonOf(session, organizationId, line.name) === null
  const all = chooseFrom(lines, base)
  const given = all.filter(mayGive)
  const wanted = given.map((line) => line.name).filter((one) => chosen.includes(one))
  const change = useSaving(organizationId, role, onClose)
  const reason = missing(name, wanted) ?? (isSame(role, name, wanted) ? 'Nothing was changed.' : null)
  const foot = (
    <>
      {role !== null && <span role="status">{takenFrom(role, wanted)}</span>}
      <Button type="submit" look="primary" isBusy={change.isBusy} reason={reason}>
        {role === null ? 'Create role' : 'Save'}
      </Button>
    </>
  )
  const save = () => (reason === null ? void change.run({ name: name.trim(), base, permissions: wanted }) : undefined)
  return (
    <Drawer
      title={role === null ? 'Create role' : `Edit “${role.name}”`}
      isOpen
      onClose={onClose}
      foot={foot}
      onSubmit={save}
    >
      <ChangeProblem problem={change.problem} shown={['name']} />
      {role !== null && <Concerned organizationId={organizationId} role={role} wanted={wanted} />}
      <TextField
        label="Name"
        autoComplete="off"
        placeholder="Support"
        value={name}
        fault={change.faultOf('name')}
        onText={setName}
      />
      {role === null ? (
        <Select label="A part of" value={base} choices={bases} onChoice={setBase} hint={roleWords[base]} />
      ) : (
        <p>
          A part of {base}. {roleWords[base]}
        </p>
      )}
      <Permissions lines={given} base={base} wanted={wanted} onChange={setChosen} />
      <LeftOut count={all.length - given.length} />
    </Drawer>
  )
}

function LeftOut({ count: left }: { readonly count: number }) {
  return left === 0 ? null : <p>Only what you may do yourself can be given: {left} are left out.</p>
}

/** In short, where the whole of it may be out of sight. */
function takenFrom(role: OwnRole, wanted: readonly string[]): string {
  const taken = role.permissions.filter((name) => !wanted.includes(name)).length
  if (taken === 0 || role.members === 0) return ''
  return `Takes ${formatCounted(taken, 'thing')} from ${formatCounted(role.members, 'member')}`
}

function missing(name: string, wanted: readonly string[]): string | null {
  if (name.trim() === '') return 'A name is needed.'
  return wanted.length === 0 ? 'Choose at least one thing that it lets do.' : null
}

function isSame(role: OwnRole | null, name: string, wanted: readonly string[]): boolean {
  if (role === null || role.name !== name.trim()) return false
  return wanted.length === role.permissions.length && role.permissions.every((one) => wanted.includes(one))
}

type Wanted = { readonly name: string; readonly base: Role; readonly permissions: readonly string[] }

function useSaving(organizationId: string, role: OwnRole | null, onDone: () => void) {
  return useChange(
    ({ name, base, permissions }: Wanted, options) =>
      role === null
        ? api(
            'POST /api/v1/organizations/{organizationId}/roles',
            { params: { organizationId }, body: { name, base: base as Base, permissions } },
            options,
          )
        : api(
            'PATCH /api/v1/organizations/{organizationId}/roles/{roleId}',
            { params: { organizationId, roleId: role.id }, body: { name, permissions } },
            options,
          ),
    {
      touches: [
        ['roles', organizationId],
        ['members', organizationId],
        ['management-keys', organizationId],
        ['invitations', organizationId],
      ],
      onDone,
    },
  )
}

type PermissionsProps = {
  readonly lines: readonly Line[]
  readonly base: Role
  readonly wanted: readonly string[]
  readonly onChange: (wanted: readonly string[]) => void
}

function Permissions({ lines, base, wanted, onChange }: PermissionsProps) {
  const all = lines.map(({ name }) => name)
  const reachOf = new Map(lines.map(({ name, reaches }) => [name, reaches[base]] as const))
  const labelOf = (name: string) => {
    const reach = reachOf.get(name)
    return `${wordsOfPermission(name)}${reach === 'projects' ? ' of own projects' : reach === 'own' ? ', own' : ''}`
  }
  return (
    <Stack>
      <Row>
        <span role="status">{`Lets do ${wanted.length} of ${all.length}`}</span>
        <Button isSmall onClick={() => onChange(all)}>
          All
        </Button>
        <Button isSmall onClick={() => onChange(all.filter((name) => name.endsWith(':read')))}>
          Reading alone
        </Button>
        <Button isSmall onClick={() => onChange([])}>
          Nothing
        </Button>
      </Row>
      {groupPermissions(all).map(({ title, names }) => (
        <CheckboxGroup
          key={title}
          label={title}
          isInColumns
          choices={names.map((name) => ({ value: name, label: labelOf(name) }))}
          chosen={wanted}
          onChange={(left) => onChange([...wanted.filter((name) => !names.includes(name)), ...left])}
        />
      ))}
    </Stack>
  )
}

/** Who has the role, and what is taken from them and given to them when it is saved. */
function Concerned({
  organizationId,
  role,
  wanted,
}: {
  readonly organizationId: string
  readonly role: OwnRole
  readonly wanted: readonly string[]
}) {
  const members = useMemberList(organizationId).filter(
    ({ roleId, removedAt }) => roleId === role.id && removedAt === null,
  )
  const taken = role.permissions.filter((name) => !wanted.includes(name))
  const added = wanted.filter((name) => !role.permissions.includes(name))
  const who = members.map(({ name }) => name).join(', ') || formatCounted(role.members, 'member')
  if (role.members === 0) return <Banner>Nobody has this role yet.</Banner>
  return (
    <Banner kind={taken.length > 0 ? 'warn' : 'info'}>
      Concerns <Name>{who}</Name>, at once and in open sessions too.
      {added.length > 0 && ` Gives them: ${listOf(added)}.`}
      {taken.length > 0 &&
        ` Takes from them: ${listOf(taken)}. Management keys and open invitations of theirs that reach further than what is left go down or end.`}
    </Banner>
  )
}

function listOf(names: readonly string[]): string {
  return names.map(wordsOfPermission).join('; ')
}
