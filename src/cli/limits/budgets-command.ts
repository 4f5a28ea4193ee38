import { findUnpriced } from '../../billing/prices/price-book.ts'
import { priceLeadMs, readPrices } from '../../billing/prices/prices.ts'
import { budgetFields } from '../../core/limit-fields.ts'
import { budgetPeriods, type BudgetPeriod } from '../../core/limit.ts'
import { readBudgetUse, type BudgetUse } from '../../inference/read-spent.ts'
import { listBudgets, raiseBudget, removeBudget, setBudget } from '../../limits/settings/budget-settings.ts'
import { operator, print, readOrganizationId, requireId, withInstallation } from '../accounts/with-installation.ts'
import { formatMicros } from '../billing/money-text.ts'
import { parseMoment } from '../billing/period.ts'
import { textTable } from '../billing/text-table.ts'
import type { Installation } from '../../service/joins/open-installation.ts'
import { parseArguments } from '../parse-arguments.ts'
import { UsageError } from '../usage-error.ts'
import { fieldOptions, readFieldValues } from './field-options.ts'
import { readSubject, subjectOptions } from './limit-options.ts'
import type { Budget, BudgetRaise } from '../../limits/settings/setting.ts'

const options = {
  ...subjectOptions,
  period: { type: 'string' },
  until: { type: 'string' },
  ...fieldOptions(budgetFields),
  json: { type: 'boolean', default: false },
} as const

type Values = ReturnType<typeof parseArguments<{ args: string[]; options: typeof options }>>['values']

const words = { list: 0, set: 0, raise: 1, remove: 1 }

/** `odyssey budgets`: works on the database directly, as `limits` does. */
export async function budgetsCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArguments({ args, options, words })
  const [action, id] = positionals
  if (action === 'list')
    await withInstallation((installation, { billing }) => list(installation, values, billing.currency))
  else if (action === 'set')
    await withInstallation((installation, { billing }) => set(installation, values, billing.currency))
  else if (action === 'remove') await withInstallation((installation) => remove(installation, values, id))
  else if (action === 'raise') await withInstallation((installation) => raise(installation, values, id))
  else throw new UsageError('budgets takes list, set, raise ID or remove ID.')
}

async function list(installation: Installation, { organization, json }: Values, currency: string): Promise<void> {
  const budgets = await listBudgets(installation.accounts, operator, readOrganizationId(organization, installation))
  if (budgets.length === 0) return print(json, [], ['budgets: none.'])
  const nowMs = installation.accounts.clock.nowMs()
  const uses = await Promise.all(
    budgets.map(async (budget) => ({ ...budget, ...(await readBudgetUse(installation.db, budget, nowMs)) })),
  )
  const head = [
    'for',
    'each',
    `spent ${currency}`,
    `of ${currency}`,
    'tokens',
    'of tokens',
    'raised until',
    'alerts',
    'until',
    'id',
  ]
  print(json, uses.map(toJson), [textTable([head, ...uses.map(toCells)])])
}

/** Sets all of them: what is not given is not limited, as in the management API. */
async function set(installation: Installation, values: Values, currency: string): Promise<void> {
  const period = requirePeriod(values.period)
  const wanted = { ...readSubject(installation, values), period, ...readFieldValues(budgetFields, values) }
  const { id, subject, microsMax, organizationId } = await setBudget(installation.accounts, operator, wanted)
  if (microsMax !== null) await warnOfUnpriced(installation, { organizationId, currency })
  print(values.json, { id }, [
    `${id} is the budget of ${subject.id} ${period === 'lifetime' ? 'for all time' : `for each ${period}`}.`,
  ])
}

/** Beside the result, which programs read. */
async function warnOfUnpriced(
  { accounts: { db, clock } }: Installation,
  { organizationId, currency }: Pick<Budget, 'organizationId'> & { readonly currency: string },
): Promise<void> {
  // One that was set a moment ago is in force after its lead.
  const asked = { organizationId, atMs: clock.nowMs() + priceLeadMs }
  const unpriced = findUnpriced(await readPrices(db, currency), asked)
  if (unpriced.length === 0) return
  console.error(
    `No price in ${currency}: ${unpriced.join(', ')}. What they answer costs nothing, so this amount does not bound it. ` +
      'Set their prices with "odyssey prices set", or bound tokens with --tokens.',
  )
}

/** Until a time, or with `--until now` no longer. */
async function raise(installation: Installation, values: Values, given: string | undefined): Promise<void> {
  const reference = {
    id: requireId(given, 'budget'),
    organizationId: readOrganizationId(values.organization, installation),
  }
  if (values.until === undefined) throw new UsageError('This needs --until TIME, or --until now to end a raise.')
  const { microsMax = null, tokensMax = null } = readFieldValues(budgetFields, values)
  const untilMs = values.until === 'now' ? null : parseMoment(values.until, '--until')
  const wanted = untilMs === null ? null : { microsMax, tokensMax, untilMs }
  const budget = await raiseBudget(installation.accounts, operator, { ...reference, raise: wanted })
  const words = untilMs === null ? 'is raised no longer' : `is raised until ${new Date(untilMs).toISOString()}`
  print(values.json, { id: budget.id, raise: budget.raise }, [`${budget.id} ${words}.`])
}

async function remove(
  installation: Installation,
  { organization, json }: Values,
  given: string | undefined,
): Promise<void> {
  const reference = { id: requireId(given, 'budget'), organizationId: readOrganizationId(organization, installation) }
  await removeBudget(installation.accounts, operator, reference)
  print(json, reference, [`${reference.id} is removed.`])
}

function requirePeriod(period: string | undefined): BudgetPeriod {
  const known = budgetPeriods.find((each) => each === period)
  if (known !== undefined) return known
  throw new UsageError(`--period takes ${budgetPeriods.join(', ')}.`)
}

type UsedBudget = Budget & BudgetUse

function toCells({ subject, period, id, spent, range, raise: inForce, alerts, ...budget }: UsedBudget): string[] {
  const { microsMax, tokensMax } = { ...budget, ...withoutNull(inForce) }
  return [
    subject.id,
    period,
    formatMicros(BigInt(spent.micros)),
    microsMax === null ? '-' : formatMicros(BigInt(microsMax)),
    String(spent.tokens),
    tokensMax === null ? '-' : String(tokensMax),
    inForce === null ? '-' : showTime(inForce.untilMs),
    alerts.map(toWords).join(', ') || '-',
    range.beforeMs === Infinity ? '-' : showTime(range.beforeMs),
    id,
  ]
}

/** The values that a raise has. */
function withoutNull(inForce: BudgetRaise | null): Partial<Budget> {
  return Object.fromEntries(Object.entries(inForce ?? {}).filter(([, value]) => value !== null))
}

function toWords({ percent, reachedAtMs }: BudgetUse['alerts'][number]): string {
  return reachedAtMs === null ? `${percent} %` : `${percent} % at ${showTime(reachedAtMs)}`
}

function toJson({ range, raise: inForce, alerts, ...budget }: UsedBudget) {
  const isEndless = range.beforeMs === Infinity
  return {
    ...budget,
    raise: inForce && { microsMax: inForce.microsMax, tokensMax: inForce.tokensMax, until: showTime(inForce.untilMs) },
    alerts: alerts.map(({ percent, reachedAtMs }) => {
      return { percent, reachedAt: reachedAtMs === null ? null : showTime(reachedAtMs) }
    }),
    periodStartsAt: isEndless ? null : showTime(range.fromMs),
    periodEndsAt: isEndless ? null : showTime(range.beforeMs),
  }
}

function showTime(ms: number): string {
  return new Date(ms).toISOString()
}
