import { createMember, listMembers, removeMember, setMemberRole } from '../../accounts/members.ts'
import { setProjectMember } from '../../accounts/projects.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { roles, type Role } from '../../core/role.ts'
import type { Accounts } from '../../service/joins/open-accounts.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { showDay } from './moments.ts'
import { operator, print, printList, readAll, readOrganizationId, requireId, withAccounts } from './with-accounts.ts'

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
type Action = (accounts: Accounts, given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  create,
  list,
  role: setRole,
  remove,
  show: (accounts, given) => setSight(accounts, given, true),
  hide: (accounts, given) => setSight(accounts, given, false),
}

/** `odyssey members`: works on the database directly, as `keys` does. */
export async function membersCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [verb = '', id] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`members takes ${Object.keys(actions).join(', ')}.`)
  await withAccounts((accounts) => {
    return action(accounts, { organizationId: readOrganizationId(values.organization, accounts), id, values })
  })
}

function readArguments(args: string[]) {
  return parseArguments({ args, options, allowPositionals: true })
}

async function create({ apiKeys }: Accounts, { organizationId, values }: Given): Promise<void> {
  const { email, name = email } = values
  if (email === undefined || name === undefined) throw new UsageError('members create needs --email E-MAIL.')
  const id = await createMember(apiKeys, operator, { organizationId, email, name, role: readRole(values.role) })
  print(values.json, { id }, [`${id} is made.`])
}

async function list({ apiKeys }: Accounts, { organizationId, values }: Given): Promise<void> {
  const members = await readAll((cursor) =>
    listMembers(apiKeys, operator, { organizationId, ...(cursor !== undefined && { cursor }) }),
  )
  const lines = members.map(({ id, email, name, role, createdAtMs, removedAtMs }) => {
    return `${id}  ${showDay(createdAtMs)}  ${removedAtMs === null ? role : 'removed'}  ${email}  ${name}`
  })
  printList(values.json, 'members', members, lines)
}

async function setRole({ apiKeys }: Accounts, { organizationId, id, values }: Given): Promise<void> {
  const reference = { id: requireId(id, 'mem'), organizationId }
  const role = readRole(values.role)
  await setMemberRole(apiKeys, operator, reference, role)
  print(values.json, { ...reference, role }, [`${reference.id} has the role ${role}.`])
}

async function remove({ apiKeys }: Accounts, { organizationId, id, values }: Given): Promise<void> {
  const reference = { id: requireId(id, 'mem'), organizationId }
  await removeMember(apiKeys, operator, reference)
  print(values.json, reference, [`${reference.id} is removed, and the keys it owned are revoked.`])
}

async function setSight({ apiKeys }: Accounts, { organizationId, id, values }: Given, maySee: boolean): Promise<void> {
  const memberId = requireId(id, 'mem')
  const project = requireId(values.project, 'proj')
  await setProjectMember(apiKeys, operator, { id: project, organizationId, memberId, maySee })
  print(values.json, { memberId, project, maySee }, [`${memberId} may ${maySee ? 'now' : 'no longer'} see ${project}.`])
}

function readRole(given: string | undefined): Role {
  const role = roles.find((known) => known === given)
  if (role === undefined) throw new UsageError(`--role takes ${roles.join(', ')}.`)
  return role
}
