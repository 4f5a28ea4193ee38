import {
  createOrganization,
  listOrganizations,
  renameOrganization,
  setOrganizationDisabled,
} from '../../accounts/organizations.ts'
import type { Accounts } from '../../service/joins/open-accounts.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { showDay } from './moments.ts'
import { operator, print, readAll, requireId, withAccounts } from './with-accounts.ts'

const options = { name: { type: 'string' }, json: { type: 'boolean', default: false } } as const
type Given = { readonly name: string | undefined; readonly json: boolean; readonly id: string | undefined }
type Action = (accounts: Accounts, given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  create,
  list,
  rename,
  disable: (accounts, given) => setDisabled(accounts, given, true),
  enable: (accounts, given) => setDisabled(accounts, given, false),
}

/** `odyssey organizations`: works on the database directly, as `keys` does. */
export async function organizationsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const [verb = '', id] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`organizations takes ${Object.keys(actions).join(', ')}.`)
  await withAccounts((accounts) => action(accounts, { name: values.name, json: values.json, id }))
}

async function create({ apiKeys }: Accounts, { name, json }: Given): Promise<void> {
  const created = await createOrganization(apiKeys, operator, { name: requireName(name) })
  print(json, created, [`${created.organizationId} is made, with the project ${created.projectId}.`])
}

async function list({ apiKeys }: Accounts, { json }: Given): Promise<void> {
  const organizations = await readAll((cursor) =>
    listOrganizations(apiKeys, operator, cursor === undefined ? {} : { cursor }),
  )
  const lines = organizations.map(({ id, name, createdAtMs, disabledAtMs }) => {
    return `${id}  ${showDay(createdAtMs)}  ${disabledAtMs === null ? 'active' : 'disabled'}  ${name}`
  })
  print(json, organizations, lines)
}

async function rename({ apiKeys }: Accounts, { id, name, json }: Given): Promise<void> {
  const organizationId = requireId(id, 'org')
  await renameOrganization(apiKeys, operator, { organizationId, name: requireName(name) })
  print(json, { organizationId }, [`${organizationId} is renamed.`])
}

async function setDisabled({ apiKeys }: Accounts, { id, json }: Given, isDisabled: boolean): Promise<void> {
  const organizationId = requireId(id, 'org')
  await setOrganizationDisabled(apiKeys, operator, { organizationId, isDisabled })
  print(json, { organizationId }, [`${organizationId} is ${isDisabled ? 'disabled' : 'enabled'}.`])
}

function requireName(name: string | undefined): string {
  if (name === undefined) throw new UsageError('This needs --name NAME.')
  return name
}
