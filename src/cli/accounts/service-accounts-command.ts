import {
  createServiceAccount,
  listServiceAccounts,
  removeServiceAccount,
  setServiceAccountDisabled,
} from '../../accounts/service-accounts.ts'
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
  readProjectId,
  requireId,
  withInstallation,
} from './with-installation.ts'

const text = { type: 'string' } as const
const options = { name: text, organization: text, project: text, json: { type: 'boolean', default: false } } as const

type Given = {
  readonly values: ReturnType<typeof readArguments>['values']
  readonly organizationId: OrganizationId
  readonly id: string | undefined
}
type Action = (installation: Installation, given: Given) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  create,
  list,
  disable: (installation, given) => setDisabled(installation, given, true),
  enable: (installation, given) => setDisabled(installation, given, false),
  remove,
}

const words = { create: 0, list: 0, disable: 1, enable: 1, remove: 1 }

/** `odyssey service-accounts`: accounts of programs, whose keys are no person's. */
export async function serviceAccountsCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [verb = '', id] = positionals
  const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
  if (action === undefined) throw new UsageError(`service-accounts takes ${Object.keys(actions).join(', ')}.`)
  await withInstallation((installation) => {
    const organizationId = readOrganizationId(values.organization, installation)
    return action(installation, { values, organizationId, id })
  })
}

function readArguments(args: string[]) {
  return parseArguments({ args, options, words })
}

async function create(installation: Installation, { values, organizationId }: Given): Promise<void> {
  if (values.name === undefined) throw new UsageError('service-accounts create needs --name NAME.')
  const wanted = { organizationId, projectId: readProjectId(installation, values), name: values.name }
  const id = await createServiceAccount(installation.accounts, operator, wanted)
  print(values.json, { id }, [`${id} is made. Its keys: odyssey keys create --service-account ${id} --name NAME`])
}

async function list({ accounts }: Installation, { values, organizationId }: Given): Promise<void> {
  const found = await readAll((cursor) =>
    listServiceAccounts(accounts, operator, { organizationId, ...(cursor !== undefined && { cursor }) }),
  )
  const lines = found.map(({ id, projectId, name, createdAtMs, disabledAtMs, removedAtMs }) => {
    const state = removedAtMs === null ? (disabledAtMs === null ? 'active' : 'disabled') : 'removed'
    return `${id}  ${projectId}  ${showDay(createdAtMs)}  ${state}  ${name}`
  })
  printList(values.json, 'service accounts', found, lines)
}

async function setDisabled({ accounts }: Installation, given: Given, isDisabled: boolean): Promise<void> {
  const reference = { organizationId: given.organizationId, id: requireId(given.id, 'svc') }
  await setServiceAccountDisabled(accounts, operator, reference, isDisabled)
  print(given.values.json, reference, [`${reference.id} is ${isDisabled ? 'disabled' : 'enabled'}.`])
}

async function remove({ accounts }: Installation, { values, organizationId, id }: Given): Promise<void> {
  const reference = { organizationId, id: requireId(id, 'svc') }
  await removeServiceAccount(accounts, operator, reference)
  print(values.json, reference, [`${reference.id} is removed, and its keys are revoked.`])
}
