import { createProject, listProjects, setProjectArchived, updateProject } from '../../accounts/projects.ts'
import { keyOwners } from '../../db/tables/accounts.ts'
import type { OrganizationId } from '../../core/ids.ts'
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
const options = { organization: text, name: text, of: text, json: { type: 'boolean', default: false } } as const
type Given = {
  readonly organizationId: OrganizationId
  readonly name: string | undefined
  readonly keys: string | undefined
  readonly json: boolean
  readonly id: string | undefined
}
type Action = (installation: Installation, given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  create,
  list,
  rename,
  keys: setKeys,
  archive: (installation, given) => setArchived(installation, given, true),
  restore: (installation, given) => setArchived(installation, given, false),
}

const words = { create: 0, list: 0, rename: 1, keys: 1, archive: 1, restore: 1 }

/** `odyssey projects`: works on the database directly, as `keys` does. */
export async function projectsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, words })
  const [verb = '', id] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`projects takes ${Object.keys(actions).join(', ')}.`)
  await withInstallation((installation) => {
    const organizationId = readOrganizationId(values.organization, installation)
    return action(installation, { organizationId, name: values.name, keys: values.of, json: values.json, id })
  })
}

async function create({ accounts }: Installation, { organizationId, name, json }: Given): Promise<void> {
  const id = await createProject(accounts, operator, { organizationId, name: requireName(name) })
  print(json, { id }, [`${id} is made.`])
}

async function list({ accounts }: Installation, { organizationId, json }: Given): Promise<void> {
  const projects = await readAll((cursor) =>
    listProjects(accounts, operator, { organizationId, ...(cursor !== undefined && { cursor }) }),
  )
  const lines = projects.map(({ id, name, createdAtMs, archivedAtMs }) => {
    return `${id}  ${showDay(createdAtMs)}  ${archivedAtMs === null ? 'active' : 'archived'}  ${name}`
  })
  printList(json, 'projects', projects, lines)
}

async function rename({ accounts }: Installation, { organizationId, id, name, json }: Given): Promise<void> {
  const reference = { id: requireId(id, 'proj'), organizationId }
  await updateProject(accounts, operator, reference, { name: requireName(name) })
  print(json, reference, [`${reference.id} is renamed.`])
}

async function setKeys({ accounts }: Installation, { organizationId, id, keys, json }: Given): Promise<void> {
  const reference = { id: requireId(id, 'proj'), organizationId }
  const chosen = keyOwners.find((known) => known === keys)
  if (chosen === undefined) throw new UsageError(`projects keys needs --of ${keyOwners.join(' or ')}.`)
  await updateProject(accounts, operator, reference, { keyOwners: chosen })
  print(json, { ...reference, keyOwners: chosen }, [`New keys of ${reference.id} are ${keyWords[chosen]}.`])
}

const keyWords = { anyone: 'anyone’s', 'service-accounts': 'service accounts’ alone' } as const

async function setArchived({ accounts }: Installation, { organizationId, id, json }: Given, isArchived: boolean) {
  const reference = { id: requireId(id, 'proj'), organizationId }
  await setProjectArchived(accounts, operator, reference, isArchived)
  print(json, reference, [`${reference.id} is ${isArchived ? 'archived' : 'restored'}.`])
}

function requireName(name: string | undefined): string {
  if (name === undefined) throw new UsageError('This needs --name NAME.')
  return name
}
