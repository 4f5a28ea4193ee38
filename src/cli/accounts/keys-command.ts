import { createApiKey, revokeApiKey, rotateApiKey, setApiKeyDisabled, updateApiKey } from '../../accounts/api-keys.ts'
import type { KeyRules } from '../../accounts/key-rules.ts'
import { listApiKeys, type ApiKeySummary } from '../../accounts/list-api-keys.ts'
import type { ProjectId } from '../../core/ids.ts'
import type { Accounts } from '../../service/joins/open-accounts.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { parseDuration, parseEnd, showDay } from './moments.ts'
import { operator, print, printList, readAll, readOrganizationId, requireId, withAccounts } from './with-accounts.ts'

const text = { type: 'string' } as const
const options = {
  name: text,
  organization: text,
  project: text,
  owner: text,
  expires: text,
  models: text,
  endpoints: text,
  addresses: text,
  overlap: text,
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof readArguments>['values']
type Action = (accounts: Accounts, values: Values, id: string | undefined) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  create,
  list,
  update,
  rotate,
  disable: (accounts, values, id) => setDisabled(accounts, { values, id, isDisabled: true }),
  enable: (accounts, values, id) => setDisabled(accounts, { values, id, isDisabled: false }),
  revoke,
}

/** `odyssey keys`: works on the database directly, so it needs no running service and may run beside one. */
export async function keysCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [name = '', id] = positionals
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action === undefined) throw new UsageError(`keys takes ${Object.keys(actions).join(', ')}.`)
  await withAccounts((accounts) => action(accounts, values, id))
}

function readArguments(args: string[]) {
  return parseArguments({ args, options, allowPositionals: true })
}

async function create(accounts: Accounts, values: Values): Promise<void> {
  if (values.name === undefined || values.name.trim() === '') throw new UsageError('keys create needs --name NAME.')
  const created = await createApiKey(accounts.apiKeys, operator, {
    name: values.name,
    organizationId: readOrganizationId(values.organization, accounts),
    projectId: readProjectId(accounts, values),
    rules: readRules(accounts, values),
    ...(values.owner !== undefined && { ownerId: requireId(values.owner, 'mem') }),
  })
  print(values.json, created, [`${created.key}\n\nThis key (${created.id}) is shown only now.`])
}

async function list(accounts: Accounts, values: Values): Promise<void> {
  const organizationId = readOrganizationId(values.organization, accounts)
  const filter = {
    organizationId,
    ...(values.project !== undefined && { projectId: requireId(values.project, 'proj') }),
  }
  const keys = await readAll((cursor) =>
    listApiKeys(accounts.apiKeys, operator, { ...filter, ...(cursor !== undefined && { cursor }) }),
  )
  printList(values.json, 'keys', keys, keys.map(describe))
}

async function update(accounts: Accounts, values: Values, id: string | undefined): Promise<void> {
  const changes = { ...readRules(accounts, values), ...(values.name !== undefined && { name: values.name }) }
  if (Object.keys(changes).length === 0) throw new UsageError('keys update needs what is to change.')
  const reference = refer(accounts, values, id)
  await updateApiKey(accounts.apiKeys, operator, reference, changes)
  print(values.json, reference, [`${reference.id} is changed.`])
}

async function rotate(accounts: Accounts, values: Values, id: string | undefined): Promise<void> {
  const overlapMs = values.overlap === undefined ? 0 : parseDuration(values.overlap, '--overlap')
  const reference = refer(accounts, values, id)
  const created = await rotateApiKey(accounts.apiKeys, operator, reference, overlapMs)
  const end = overlapMs === 0 ? 'no longer works' : `works for another ${values.overlap}`
  print(values.json, created, [`${created.key}\n\nThis key (${created.id}) is shown only now. ${reference.id} ${end}.`])
}

type Disabling = { readonly values: Values; readonly id: string | undefined; readonly isDisabled: boolean }

async function setDisabled(accounts: Accounts, { values, id, isDisabled }: Disabling): Promise<void> {
  const reference = refer(accounts, values, id)
  await setApiKeyDisabled(accounts.apiKeys, operator, reference, isDisabled)
  print(values.json, reference, [`${reference.id} is ${isDisabled ? 'disabled' : 'enabled'}.`])
}

async function revoke(accounts: Accounts, values: Values, id: string | undefined): Promise<void> {
  const reference = refer(accounts, values, id)
  await revokeApiKey(accounts.apiKeys, operator, reference)
  print(values.json, reference, [`${reference.id} is revoked.`])
}

function refer(accounts: Accounts, { organization }: Values, id: string | undefined) {
  return { id: requireId(id, 'key'), organizationId: readOrganizationId(organization, accounts) }
}

function readProjectId({ home }: Accounts, { organization, project }: Values): ProjectId {
  if (project !== undefined) return requireId(project, 'proj')
  if (organization === undefined || organization === home.organizationId) return home.projectId
  throw new UsageError('A key of another organization needs --project PROJECT.')
}

function readRules({ apiKeys }: Accounts, { expires, models, endpoints, addresses }: Values): Partial<KeyRules> {
  // Names that are not known are refused where the rules are checked.
  return {
    ...(expires !== undefined && { expiresAtMs: parseEnd(expires, apiKeys.clock.nowMs()) }),
    ...(models !== undefined && { models: readList(models) as KeyRules['models'] }),
    ...(endpoints !== undefined && { endpoints: readList(endpoints) as KeyRules['endpoints'] }),
    ...(addresses !== undefined && { addresses: readList(addresses) }),
  }
}

/** `all` lifts the rule. */
function readList(given: string): readonly string[] | null {
  return given === 'all' ? null : given.split(',').map((entry) => entry.trim())
}

function describe({ id, name, lastFour, state, createdAtMs, lastUsedAtMs, rules }: ApiKeySummary): string {
  const { expiresAtMs, models, endpoints, addresses } = rules
  const limits = [
    ...(expiresAtMs === null ? [] : [`until ${showDay(expiresAtMs)}`]),
    ...[models, endpoints, addresses].flatMap((entries) => (entries === null ? [] : [entries.join(',')])),
  ]
  const suffix = limits.length === 0 ? '' : `  (${limits.join('; ')})`
  return `${id}  …${lastFour}  ${showDay(createdAtMs)}  used ${showDay(lastUsedAtMs)}  ${state}  ${name}${suffix}`
}
