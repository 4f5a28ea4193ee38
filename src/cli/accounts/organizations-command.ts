import {
  createOrganization,
  listOrganizations,
  prioritizeOrganization,
  renameOrganization,
  setOrganizationDisabled,
} from '../../accounts/organizations.ts'
import { priorities } from '../../core/tier.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { showDay } from './moments.ts'
import { operator, print, readAll, requireId, withInstallation } from './with-installation.ts'

const options = { name: { type: 'string' }, json: { type: 'boolean', default: false } } as const
type Given = {
  readonly name: string | undefined
  readonly json: boolean
  readonly id: string | undefined
  readonly priority: string | undefined
}
type Action = (installation: Installation, given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  create,
  list,
  rename,
  prioritize,
  disable: (installation, given) => setDisabled(installation, given, true),
  enable: (installation, given) => setDisabled(installation, given, false),
}

const words = { create: 0, list: 0, rename: 1, prioritize: 2, disable: 1, enable: 1 }

/** `odyssey organizations`: works on the database directly, as `keys` does. */
export async function organizationsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, words })
  const [verb = '', id, priority] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`organizations takes ${Object.keys(actions).join(', ')}.`)
  await withInstallation((installation) => action(installation, { ...values, name: values.name, id, priority }))
}

async function create({ accounts }: Installation, { name, json }: Given): Promise<void> {
  const created = await createOrganization(accounts, operator, { name: requireName(name) })
  print(json, created, [`${created.organizationId} is made, with the project ${created.projectId}.`])
}

async function list({ accounts }: Installation, { json }: Given): Promise<void> {
  const organizations = await readAll((cursor) =>
    listOrganizations(accounts, operator, cursor === undefined ? {} : { cursor }),
  )
  const lines = organizations.map(({ id, name, createdAtMs, disabledAtMs, tier, priority }) => {
    return `${id}  ${showDay(createdAtMs)}  ${disabledAtMs === null ? 'active' : 'disabled'}  ${tier}  ${priority}  ${name}`
  })
  print(json, organizations, lines)
}

async function rename({ accounts }: Installation, { id, name, json }: Given): Promise<void> {
  const organizationId = requireId(id, 'org')
  await renameOrganization(accounts, operator, { organizationId, name: requireName(name) })
  print(json, { organizationId }, [`${organizationId} is renamed.`])
}

async function prioritize({ accounts }: Installation, { id, priority, json }: Given): Promise<void> {
  const organizationId = requireId(id, 'org')
  const wanted = priorities.find((one) => one === priority)
  if (wanted === undefined) throw new UsageError(`organizations prioritize takes ${priorities.join(', ')}.`)
  await prioritizeOrganization(accounts, operator, { organizationId, priority: wanted })
  print(json, { organizationId, priority: wanted }, [`The requests of ${organizationId} are ${wanted} ones.`])
}

async function setDisabled({ accounts }: Installation, { id, json }: Given, isDisabled: boolean): Promise<void> {
  const organizationId = requireId(id, 'org')
  await setOrganizationDisabled(accounts, operator, { organizationId, isDisabled })
  print(json, { organizationId }, [`${organizationId} is ${isDisabled ? 'disabled' : 'enabled'}.`])
}

function requireName(name: string | undefined): string {
  if (name === undefined) throw new UsageError('This needs --name NAME.')
  return name
}
