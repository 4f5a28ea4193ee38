import { notFound } from '../../core/permission.ts'
import { readBudgetUse } from '../../inference/read-spent.ts'
import type { BudgetPeriod } from '../../limits/budgets/budget-period.ts'
import { listBudgets, removeBudget, setBudget, type Budget } from '../../limits/settings/budget-settings.ts'
import { operator, print, readOrganizationId, requireId, withAccounts } from '../accounts/with-accounts.ts'
import { formatMicros, parseMicros } from '../billing/money-text.ts'
import { textTable } from '../billing/text-table.ts'
import type { Accounts } from '../../service/joins/open-accounts.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { readNumbers, readSubject, subjectOptions } from './limit-options.ts'

const text = { type: 'string' } as const
const options = {
  ...subjectOptions,
  period: text,
  amount: text,
  tokens: text,
  'alert-percent': text,
  json: { type: 'boolean', default: false },
} as const

const numberOptions = { tokensMax: 'tokens', alertPercent: 'alert-percent' } as const

type Values = ReturnType<typeof parseArguments<{ args: string[]; options: typeof options }>>['values']

/** `odyssey budgets`: works on the database directly, as `limits` does. */
export async function budgetsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, allowPositionals: true })
  const [action, id] = positionals
  if (action === 'list') await withAccounts((accounts, { billing }) => list(accounts, values, billing.currency))
  else if (action === 'set') await withAccounts((accounts) => set(accounts, values))
  else if (action === 'remove') await withAccounts((accounts) => remove(accounts, values, id))
  else throw new UsageError('budgets takes list, set or remove ID.')
}

async function list(accounts: Accounts, { organization, json }: Values, currency: string): Promise<void> {
  const budgets = await listBudgets(accounts.apiKeys, operator, readOrganizationId(organization, accounts))
  if (budgets.length === 0) return print(json, [], ['budgets: none.'])
  const nowMs = accounts.apiKeys.clock.nowMs()
  const uses = await Promise.all(
    budgets.map(async (budget) => ({ ...budget, ...(await readBudgetUse(accounts.db, budget, nowMs)) })),
  )
  const head = ['for', 'each', `spent ${currency}`, `of ${currency}`, 'tokens', 'of tokens', 'alert at', 'until', 'id']
  print(json, uses.map(toJson), [textTable([head, ...uses.map(toCells)])])
}

/** Sets all of them: what is not given is not limited, as in the management API. */
async function set(accounts: Accounts, values: Values): Promise<void> {
  const period = requirePeriod(values.period)
  const place = await readSubject(accounts, values)
  const microsMax = values.amount === undefined ? {} : { microsMax: parseMicros(values.amount, '--amount') }
  const budget = { ...place, period, ...microsMax, ...readNumbers(numberOptions, values) }
  const id = await setBudget(accounts.apiKeys, operator, budget)
  print(values.json, { id }, [`${id} is the budget of ${place.subject.id} for each ${period}.`])
}

async function remove(accounts: Accounts, { organization, json }: Values, given: string | undefined): Promise<void> {
  const reference = { id: requireId(given, 'budget'), organizationId: readOrganizationId(organization, accounts) }
  if (!(await removeBudget(accounts.apiKeys, operator, reference))) throw notFound()
  print(json, reference, [`${reference.id} is removed.`])
}

function requirePeriod(period: string | undefined): BudgetPeriod {
  if (period === 'day' || period === 'month') return period
  throw new UsageError('--period takes day or month.')
}

type UsedBudget = Budget & Awaited<ReturnType<typeof readBudgetUse>>

function toCells({ subject, period, microsMax, tokensMax, alertPercent, id, spent, range }: UsedBudget): string[] {
  return [
    subject.id,
    period,
    formatMicros(BigInt(spent.micros)),
    microsMax === null ? '-' : formatMicros(BigInt(microsMax)),
    String(spent.tokens),
    tokensMax === null ? '-' : String(tokensMax),
    alertPercent === null ? '-' : `${alertPercent} %`,
    new Date(range.beforeMs).toISOString(),
    id,
  ]
}

function toJson({ range, ...budget }: UsedBudget) {
  const [periodStartsAt, periodEndsAt] = [range.fromMs, range.beforeMs].map((ms) => new Date(ms).toISOString())
  return { ...budget, periodStartsAt, periodEndsAt }
}
