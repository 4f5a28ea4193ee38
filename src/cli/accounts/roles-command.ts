import { createRole, listRoles, removeRole, updateRole } from '../../accounts/custom-roles.ts'
import type { AccountsParts } from '../../accounts/parts.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { roles } from '../../core/role.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { operator, print, printList, readOrganizationId, requireId, withInstallation } from './with-installation.ts'

const text = { type: 'string' } as const
const options = {
  name: text,
  base: text,
  permissions: text,
  organization: text,
  json: { type: 'boolean', default: false },
} as const

type Given = {
  readonly values: ReturnType<typeof readArguments>['values']
  readonly organizationId: OrganizationId
  readonly id: string | undefined
}
type Action = (accounts: AccountsParts, given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = { create, list, update, remove }

const words = { create: 0, list: 0, update: 1, remove: 1 }

/** `odyssey roles`: roles of an organization's own, which are parts of the built-in ones. */
export async function rolesCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [verb = '', id] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`roles takes ${Object.keys(actions).join(', ')}.`)
  await withInstallation((installation) => {
    const organizationId = readOrganizationId(values.organization, installation)
    return action(installation.accounts, { values, organizationId, id })
  })
}

function readArguments(args: string[]) {
  return parseArguments({ args, options, words })
}

function readList(given: string): readonly string[] {
  return given.split(',').map((entry) => entry.trim())
}

async function create(accounts: AccountsParts, { values, organizationId }: Given): Promise<void> {
  const { name, base: wanted, permissions } = values
  const base = roles.find((known) => known === wanted)
  if (name === undefined || base === undefined || permissions === undefined) {
    throw new UsageError('roles create needs --name NAME, --base ROLE and --permissions LIST.')
  }
  const id = await createRole(accounts, operator, { organizationId, name, base, permissions: readList(permissions) })
  print(values.json, { id }, [`${id} is made. It is given by: odyssey members role MEMBER --role ${id}`])
}

async function list(accounts: AccountsParts, { values, organizationId }: Given): Promise<void> {
  const found = await listRoles(accounts, operator, organizationId)
  const lines = found.map(({ id, name, base, permissions, members }) => {
    return `${id}  of ${base}  ${members} members  ${name}  (${permissions.join(', ')})`
  })
  printList(values.json, 'roles', found, lines)
}

async function update(accounts: AccountsParts, { values, organizationId, id }: Given): Promise<void> {
  const reference = { organizationId, id: requireId(id, 'role') }
  const changes = {
    ...(values.name !== undefined && { name: values.name }),
    ...(values.permissions !== undefined && { permissions: readList(values.permissions) }),
  }
  if (Object.keys(changes).length === 0) throw new UsageError('roles update needs --name or --permissions.')
  await updateRole(accounts, operator, reference, changes)
  print(values.json, reference, [`${reference.id} is changed, and with it what its members may do.`])
}

async function remove(accounts: AccountsParts, { values, organizationId, id }: Given): Promise<void> {
  const reference = { organizationId, id: requireId(id, 'role') }
  await removeRole(accounts, operator, reference)
  print(values.json, reference, [`${reference.id} is removed.`])
}
