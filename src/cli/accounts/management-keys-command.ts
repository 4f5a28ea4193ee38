import { createManagementKey, listManagementKeys, revokeManagementKey } from '../../accounts/management-keys.ts'
import type { OrganizationId } from '../../core/ids.ts'
import { roles, type Role } from '../../core/role.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { parseEnd, showDay } from './moments.ts'
import { operator, print, printList, readAll, requireId, withInstallation } from './with-installation.ts'

const text = { type: 'string' } as const
const options = {
  name: text,
  organization: text,
  role: text,
  expires: text,
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof readArguments>['values']
type Action = (installation: Installation, values: Values, id: string | undefined) => Promise<void>

const actions: Readonly<Record<string, Action>> = { create, list, revoke }

const words = { create: 0, list: 0, revoke: 1 }

/** `odyssey management-keys`: keys for the management API. The first one can only be made here. */
export async function managementKeysCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [verb = '', id] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`management-keys takes ${Object.keys(actions).join(', ')}.`)
  await withInstallation((installation) => action(installation, values, id))
}

function readArguments(args: string[]) {
  return parseArguments({ args, options, words })
}

async function create({ accounts }: Installation, values: Values): Promise<void> {
  if (values.name === undefined) throw new UsageError('management-keys create needs --name NAME.')
  const expiresAtMs = values.expires === undefined ? null : parseEnd(values.expires, accounts.clock.nowMs())
  const wanted = { name: values.name, organizationId: readScope(values), role: readRole(values.role), expiresAtMs }
  const created = await createManagementKey(accounts, operator, wanted)
  print(values.json, created, [`${created.key}\n\nThis key (${created.id}) is shown only now.`])
}

async function list({ accounts }: Installation, values: Values): Promise<void> {
  const organizationId = readScope(values)
  const keys = await readAll((cursor) =>
    listManagementKeys(accounts, operator, { organizationId, ...(cursor !== undefined && { cursor }) }),
  )
  const lines = keys.map(({ id, lastFour, createdAtMs, expiresAtMs, revokedAtMs, role, name }) => {
    const state = revokedAtMs === null ? `until ${showDay(expiresAtMs)}` : 'revoked'
    return `${id}  …${lastFour}  ${showDay(createdAtMs)}  ${state}  ${role}  ${name}`
  })
  printList(values.json, 'management keys', keys, lines)
}

async function revoke({ accounts }: Installation, values: Values, id: string | undefined): Promise<void> {
  const reference = { id: requireId(id, 'mkey'), organizationId: readScope(values) }
  await revokeManagementKey(accounts, operator, reference)
  print(values.json, reference, [`${reference.id} is revoked.`])
}

/** Reads the organization that a key manages; without one it manages the whole installation. */
function readScope({ organization }: Values): OrganizationId | null {
  return organization === undefined ? null : requireId(organization, 'org')
}

function readRole(given = 'owner'): Role {
  const role = roles.find((known) => known === given)
  if (role === undefined) throw new UsageError(`--role takes ${roles.join(', ')}.`)
  return role
}
