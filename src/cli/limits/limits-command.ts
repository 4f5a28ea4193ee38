import type { ModelId } from '../../core/model.ts'
import { notFound } from '../../core/permission.ts'
import {
  listLimits,
  removeLimit,
  setLimit,
  type Limit,
  type LimitValues,
} from '../../limits/settings/limit-settings.ts'
import { operator, print, readOrganizationId, requireId, withAccounts } from '../accounts/with-accounts.ts'
import { textTable } from '../billing/text-table.ts'
import type { Accounts } from '../../service/joins/open-accounts.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { readNumbers, readSubject, subjectOptions } from './limit-options.ts'

const text = { type: 'string' } as const
const options = {
  ...subjectOptions,
  model: { type: 'string', default: '*' },
  'input-tokens': text,
  'output-tokens': text,
  requests: text,
  'requests-enforced': { type: 'boolean', default: false },
  concurrency: text,
  'cached-percent': text,
  json: { type: 'boolean', default: false },
} as const

const numberOptions = {
  inputTokensPerMinute: 'input-tokens',
  outputTokensPerMinute: 'output-tokens',
  requestsPerMinute: 'requests',
  concurrency: 'concurrency',
  cachedReadPercent: 'cached-percent',
} as const satisfies Partial<Record<keyof LimitValues, keyof typeof options>>

type Values = ReturnType<typeof parseArguments<{ args: string[]; options: typeof options }>>['values']

/** `odyssey limits`: works on the database directly; a running service takes a change up within a second. */
export async function limitsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const [action, id] = positionals
  if (action === 'list') await withAccounts((accounts) => list(accounts, values))
  else if (action === 'set') await withAccounts((accounts) => set(accounts, values))
  else if (action === 'remove') await withAccounts((accounts) => remove(accounts, values, id))
  else throw new UsageError('limits takes list, set or remove ID.')
}

async function list(accounts: Accounts, { organization, json }: Values): Promise<void> {
  const limits = await listLimits(accounts.apiKeys, operator, readOrganizationId(organization, accounts))
  if (limits.length === 0) return print(json, [], ['limits: none.'])
  const head = ['for', 'model', 'input/min', 'output/min', 'requests/min', 'at a time', 'cached counts', 'id']
  print(json, limits, [textTable([head, ...limits.map(toCells)])])
}

/** Sets all of them: what is not given is not limited, as in the management API. */
async function set(accounts: Accounts, values: Values): Promise<void> {
  const place = await readSubject(accounts, values)
  // A model that is not known is refused where the limit is checked.
  const limit = { ...place, model: values.model as ModelId | '*', ...readNumbers(numberOptions, values) }
  const isRequestsEnforced = values['requests-enforced']
  const id = await setLimit(accounts.apiKeys, operator, { ...limit, isRequestsEnforced })
  const whichModel = values.model === '*' ? 'all models together' : values.model
  print(values.json, { id }, [`${id} limits ${place.subject.id} with ${whichModel}.`])
}

async function remove(accounts: Accounts, { organization, json }: Values, given: string | undefined): Promise<void> {
  const reference = { id: requireId(given, 'limit'), organizationId: readOrganizationId(organization, accounts) }
  if (!(await removeLimit(accounts.apiKeys, operator, reference))) throw notFound()
  print(json, reference, [`${reference.id} is removed.`])
}

function toCells(limit: Limit): string[] {
  const show = (value: number | null) => (value === null ? '-' : String(value))
  const { requestsPerMinute, isRequestsEnforced } = limit
  return [
    limit.subject.id,
    limit.model === '*' ? 'all' : limit.model,
    show(limit.inputTokensPerMinute),
    show(limit.outputTokensPerMinute),
    requestsPerMinute === null || isRequestsEnforced ? show(requestsPerMinute) : `${requestsPerMinute} (shown)`,
    show(limit.concurrency),
    `${limit.cachedReadPercent} %`,
    limit.id,
  ]
}
