import { createApiKey, revokeApiKey, rotateApiKey, setApiKeyDisabled, updateApiKey } from '../../accounts/api-keys.ts'
import type { KeyRules } from '../../accounts/key-rules.ts'
import { listApiKeys, type ApiKeySummary } from '../../accounts/read-api-keys.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { parseDuration, parseEnd, showDay } from './moments.ts'
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
const options = {
  name: text,
  organization: text,
  project: text,
  owner: text,
  'service-account': text,
  expires: text,
  models: text,
  endpoints: text,
  addresses: text,
  priority: text,
  overlap: text,
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof readArguments>['values']
type Action = (installation: Installation, values: Values, id: string | undefined) => Promise<void>

const actions: Readonly<Record<string, Action>> = {
  create,
  list,
  update,
  rotate,
  disable: (installation, values, id) => setDisabled(installation, { values, id, isDisabled: true }),
  enable: (installation, values, id) => setDisabled(installation, { values, id, isDisabled: false }),
  revoke,
}

const words = { create: 0, list: 0, update: 1, rotate: 1, disable: 1, enable: 1, revoke: 1 }

/** `odyssey keys`: works on the database directly, so it needs no running service and may run beside one. */
export async function keysCommand(args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args)
  const [name = '', id] = positionals
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (action === undefined) throw new UsageError(`keys takes ${Object.keys(actions).join(', ')}.`)
  await withInstallation((installation) => action(installation, values, id))
}

function readArguments(args: string[]) {
  return parseArguments({ args, options, words })
}

async function create(installation: Installation, values: Values): Promise<void> {
  if (values.name === undefined || values.name.trim() === '') throw new UsageError('keys create needs --name NAME.')
  const account = values['service-account']
  const created = await createApiKey(installation.accounts, operator, {
    name: values.name,
    organizationId: readOrganizationId(values.organization, installation),
    projectId: readProjectId(installation, values),
    rules: readRules(installation, values),
    ...(values.owner !== undefined && { ownerId: requireId(values.owner, 'mem') }),
    ...(account !== undefined && { serviceAccountId: requireId(account, 'svc') }),
  })
  print(values.json, created, [`${created.key}\n\nThis key (${created.id}) is shown only now.`])
}

async function list(installation: Installation, values: Values): Promise<void> {
  const organizationId = readOrganizationId(values.organization, installation)
  const filter = {
    organizationId,
    ...(values.project !== undefined && { projectId: requireId(values.project, 'proj') }),
  }
  const keys = await readAll((cursor) =>
    listApiKeys(installation.accounts, operator, { ...filter, ...(cursor !== undefined && { cursor }) }),
  )
  printList(values.json, 'keys', keys, keys.map(describe))
}

async function update(installation: Installation, values: Values, id: string | undefined): Promise<void> {
  const changes = { ...readRules(installation, values), ...(values.name !== undefined && { name: values.name }) }
  if (Object.keys(changes).length === 0) throw new UsageError('keys update needs what is to change.')
  const reference = refer(installation, values, id)
  await updateApiKey(installation.accounts, operator, reference, changes)
  print(values.json, reference, [`${reference.id} is changed.`])
}

async function rotate(installation: Installation, values: Values, id: string | undefined): Promise<void> {
  const overlapMs = values.overlap === undefined ? 0 : parseDuration(values.overlap, '--overlap')
  const reference = refer(installation, values, id)
  const created = await rotateApiKey(installation.accounts, operator, reference, overlapMs)
  const end = overlapMs === 0 ? 'no longer works' : `works for another ${values.overlap}`
  print(values.json, created, [`${created.key}\n\nThis key (${created.id}) is shown only now. ${reference.id} ${end}.`])
}

type Disabling = { readonly values: Values; readonly id: string | undefined; readonly isDisabled: boolean }

async function setDisabled(installation: Installation, { values, id, isDisabled }: Disabling): Promise<void> {
  const reference = refer(installation, values, id)
  await setApiKeyDisabled(installation.accounts, operator, reference, isDisabled)
  print(values.json, reference, [`${reference.id} is ${isDisabled ? 'disabled' : 'enabled'}.`])
}

async function revoke(installation: Installation, values: Values, id: string | undefined): Promise<void> {
  const reference = refer(installation, values, id)
  await revokeApiKey(installation.accounts, operator, reference)
  print(values.json, reference, [`${reference.id} is revoked.`])
}

function refer(installation: Installation, { organization }: Values, id: string | undefined) {
  return { id: requireId(id, 'key'), organizationId: readOrganizationId(organization, installation) }
}

function readRules(
  { accounts }: Installation,
  { expires, models, endpoints, addresses, priority }: Values,
): Partial<KeyRules> {
  // Names that are not known are refused where the rules are checked.
  return {
    ...(expires !== undefined && { expiresAtMs: parseEnd(expires, accounts.clock.nowMs()) }),
    ...(models !== undefined && { models: readList(models) as KeyRules['models'] }),
    ...(endpoints !== undefined && { endpoints: readList(endpoints) as KeyRules['endpoints'] }),
    ...(addresses !== undefined && { addresses: readList(addresses) }),
    ...(priority !== undefined && {
      priority: priority === 'organization' ? null : (priority as KeyRules['priority']),
    }),
  }
}

/** `all` lifts the rule. */
function readList(given: string): readonly string[] | null {
  return given === 'all' ? null : given.split(',').map((entry) => entry.trim())
}

function describe({ id, name, lastFour, state, createdAtMs, lastUsedAtMs, rules }: ApiKeySummary): string {
  const { expiresAtMs, models, endpoints, addresses, priority } = rules
  const limits = [
    ...(expiresAtMs === null ? [] : [`until ${showDay(expiresAtMs)}`]),
    ...[models, endpoints, addresses].flatMap((entries) => (entries === null ? [] : [entries.join(',')])),
    ...(priority === null ? [] : [priority]),
  ]
  const suffix = limits.length === 0 ? '' : `  (${limits.join('; ')})`
  return `${id}  …${lastFour}  ${showDay(createdAtMs)}  used ${showDay(lastUsedAtMs)}  ${state}  ${name}${suffix}`
}
