import { createMember, listMembers, removeMember, setMemberRole } from '../../accounts/members.ts'
import { setProjectMember } from '../../accounts/projects.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { roles, type Role } from '../../core/role.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { showDay } from './moments.ts'
import {
  operator,
  print,
  printList,
  readAll,
  readOrganizationId,
  requireId,
  withInstallation,
} from './with-installation.ts'

const text = { type: 'string' } as const
const options = {
  organization: text,
  email: text,
  name: text,
  role: text,
  project: text,
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof readArguments>['values']
type Given = { readonly organizationId: OrganizationId; readonly id: string | undefined; readonly values: Values }
type Action = (installation: Installation, given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  create,
  list,
  role: setRole,
  remove,
  show: (installation, given) => setSight(installation, given, true),
  hide: (installation, given) => setSight(installation, given, false),
}

/** `odyssey members`: works on the database directly, as `keys` does. */
export async function membersCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [verb = '', id] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`members takes ${Object.keys(actions).join(', ')}.`)
  await withInstallation((installation) => {
    return action(installation, { organizationId: readOrganizationId(values.organization, installation), id, values })
  })
}

function readArguments(args: string[]) {
  return parseArguments({ args, options, allowPositionals: true })
}

async function create({ accounts }: Installation, { organizationId, values }: Given): Promise<void> {
  const { email, name = email } = values
  if (email === undefined || name === undefined) throw new UsageError('members create needs --email E-MAIL.')
  const id = await createMember(accounts, operator, { organizationId, email, name, role: readRole(values.role) })
  print(values.json, { id }, [`${id} is made.`])
}

async function list({ accounts }: Installation, { organizationId, values }: Given): Promise<void> {
  const members = await readAll((cursor) =>
    listMembers(accounts, operator, { organizationId, ...(cursor !== undefined && { cursor }) }),
  )
  const lines = members.map(({ id, email, name, role, createdAtMs, removedAtMs }) => {
    return `${id}  ${showDay(createdAtMs)}  ${removedAtMs === null ? role : 'removed'}  ${email}  ${name}`
  })
  printList(values.json, 'members', members, lines)
}

async function setRole({ accounts }: Installation, { organizationId, id, values }: Given): Promise<void> {
  const reference = { id: requireId(id, 'mem'), organizationId }
  const role = readRole(values.role)
  await setMemberRole(accounts, operator, reference, role)
  print(values.json, { ...reference, role }, [`${reference.id} has the role ${role}.`])
}

async function remove({ accounts }: Installation, { organizationId, id, values }: Given): Promise<void> {
  const reference = { id: requireId(id, 'mem'), organizationId }
  await removeMember(accounts, operator, reference)
  print(values.json, reference, [`${reference.id} is removed, and the keys it owned are revoked.`])
}

async function setSight(
  { accounts }: Installation,
  { organizationId, id, values }: Given,
  maySee: boolean,
): Promise<void> {
  const memberId = requireId(id, 'mem')
  const project = requireId(values.project, 'proj')
  await setProjectMember(accounts, operator, { id: project, organizationId, memberId, maySee })
  print(values.json, { memberId, project, maySee }, [`${memberId} may ${maySee ? 'now' : 'no longer'} see ${project}.`])
}

function readRole(given: string | undefined): Role {
  const role = roles.find((known) => known === given)
  if (role === undefined) throw new UsageError(`--role takes ${roles.join(', ')}.`)
  return role
}
