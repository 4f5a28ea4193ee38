import { z } from 'zod'
import { readBudgetUse } from '../../../inference/read-spent.ts'
import { listBudgets, removeBudget, setBudget, type Budget } from '../../../limits/settings/budget-settings.ts'
import { pageOfAll } from '../cursor.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { given, id, inOrganization, pageOf, pageQuery, time, toTime } from '../schemas.ts'
import { findSubject, requireRemoved, subject } from './subject.ts'

const budgetId = id('budget')
const most = z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullable()
const place = { subject, period: z.enum(['day', 'month']).describe('By the calendar, in UTC.') }
const percent = z.int().min(1).max(100).nullable()

const budget = z
  .strictObject({
    id: budgetId,
    ...place,
    microsMax: most.describe('In millionths of a unit of the currency.'),
    tokensMax: most.describe('Tokens of prompts and answers together.'),
    alertPercent: percent.describe('The share of either at which an alert is recorded.'),
    periodStartsAt: time,
    periodEndsAt: time,
    spent: z.strictObject({ micros: z.int(), tokens: z.int() }).describe('By the ledger, in this period.'),
    reserved: z
      .strictObject({ micros: z.int(), tokens: z.int() })
      .nullable()
      .describe('Held by this process for requests under way; null before it has had any.'),
  })
  .meta({ id: 'Budget' })

const budgetToSet = z
  .strictObject({
    ...place,
    microsMax: most.optional(),
    tokensMax: most.optional(),
    alertPercent: percent.optional(),
  })
  .meta({ id: 'BudgetToSet' })

const path = '/api/v1/organizations/{organizationId}/budgets'

async function show({ accounts, management }: RouteParts, item: Budget): Promise<z.input<typeof budget>> {
  const { organizationId: _, ...rest } = item
  // By the database of the call: inside a change nothing else may be asked.
  const { range, spent } = await readBudgetUse(accounts.db, item, accounts.clock.nowMs())
  return {
    ...(rest as Omit<z.input<typeof budget>, 'periodStartsAt' | 'periodEndsAt' | 'spent' | 'reserved'>),
    periodStartsAt: toTime(range.fromMs),
    periodEndsAt: toTime(range.beforeMs),
    spent,
    reserved: management.reservedOf(item.id),
  }
}

export const budgetRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'budgets:read',
    scope: 'organization',
    summary: 'List the budgets with what is spent and reserved of them',
    params: inOrganization,
    query: pageQuery,
    answer: pageOf(budget),
    async work({ parts, principal, params, query }) {
      const budgets = await listBudgets(parts.accounts, principal, params.organizationId)
      const { items, next } = pageOfAll(budgets, query, (item) => item.id)
      return { data: await Promise.all(items.map((item) => show(parts, item))), next }
    },
  }),
  defineRoute({
    method: 'PUT',
    path,
    permission: 'budgets:update',
    scope: 'organization',
    summary: 'Set a subject’s budget for each day or month; what is not given is not limited',
    params: inOrganization,
    body: budgetToSet,
    example: { subject: { kind: 'project', id: 'proj_default' }, period: 'month', microsMax: 50_000_000 },
    answer: budget,
    async work({ parts, principal, params: { organizationId }, body: { subject: asked, period, ...values } }) {
      const whose = await findSubject(parts, organizationId, asked)
      parts.afterwards(() => parts.management.limitsChanged())
      const wanted = { organizationId, subject: whose, period, ...given(values) }
      const set = await setBudget(parts.accounts, principal, wanted)
      const found = (await listBudgets(parts.accounts, principal, organizationId)).find((item) => item.id === set)
      if (found === undefined) throw new Error(`The budget ${set} was set and is not there.`)
      return show(parts, found)
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/{budgetId}`,
    permission: 'budgets:update',
    scope: 'organization',
    summary: 'Remove a budget',
    params: inOrganization.extend({ budgetId }),
    answer: 'nothing',
    async work({ parts, principal, params: { organizationId, budgetId: which } }) {
      parts.afterwards(() => parts.management.limitsChanged())
      requireRemoved(await removeBudget(parts.accounts, principal, { id: which, organizationId }))
    },
  }),
]
