import { createProject, listProjects, renameProject, setProjectArchived } from '../../accounts/projects.ts'
import type { OrganizationId } from '../../core/ids.ts'
import type { Accounts } from '../../service/joins/open-accounts.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { showDay } from './moments.ts'
import { operator, print, printList, readAll, readOrganizationId, requireId, withAccounts } from './with-accounts.ts'

const text = { type: 'string' } as const
const options = { organization: text, name: text, json: { type: 'boolean', default: false } } as const
type Given = {
  readonly organizationId: OrganizationId
  readonly name: string | undefined
  readonly json: boolean
  readonly id: string | undefined
}
type Action = (accounts: Accounts, given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  create,
  list,
  rename,
  archive: (accounts, given) => setArchived(accounts, given, true),
  restore: (accounts, given) => setArchived(accounts, given, false),
}

/** `odyssey projects`: works on the database directly, as `keys` does. */
export async function projectsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const [verb = '', id] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`projects takes ${Object.keys(actions).join(', ')}.`)
  await withAccounts((accounts) => {
    const organizationId = readOrganizationId(values.organization, accounts)
    return action(accounts, { organizationId, name: values.name, json: values.json, id })
  })
}

async function create({ apiKeys }: Accounts, { organizationId, name, json }: Given): Promise<void> {
  const id = await createProject(apiKeys, operator, { organizationId, name: requireName(name) })
  print(json, { id }, [`${id} is made.`])
}

async function list({ apiKeys }: Accounts, { organizationId, json }: Given): Promise<void> {
  const projects = await readAll((cursor) =>
    listProjects(apiKeys, operator, { organizationId, ...(cursor !== undefined && { cursor }) }),
  )
  const lines = projects.map(({ id, name, createdAtMs, archivedAtMs }) => {
    return `${id}  ${showDay(createdAtMs)}  ${archivedAtMs === null ? 'active' : 'archived'}  ${name}`
  })
  printList(json, 'projects', projects, lines)
}

async function rename({ apiKeys }: Accounts, { organizationId, id, name, json }: Given): Promise<void> {
  const reference = { id: requireId(id, 'proj'), organizationId }
  await renameProject(apiKeys, operator, reference, requireName(name))
  print(json, reference, [`${reference.id} is renamed.`])
}

async function setArchived({ apiKeys }: Accounts, { organizationId, id, json }: Given, isArchived: boolean) {
  const reference = { id: requireId(id, 'proj'), organizationId }
  await setProjectArchived(apiKeys, operator, reference, isArchived)
  print(json, reference, [`${reference.id} is ${isArchived ? 'archived' : 'restored'}.`])
}

function requireName(name: string | undefined): string {
  if (name === undefined) throw new UsageError('This needs --name NAME.')
  return name
}
