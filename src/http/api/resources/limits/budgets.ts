import { z } from 'zod'
import { budgetFields } from '../../../../core/limit-fields.ts'
import { budgetPeriods, limitSetters } from '../../../../core/limit.ts'
import { readBudgetUse } from '../../../../inference/read-spent.ts'
import { listBudgets, raiseBudget, removeBudget, setBudget } from '../../../../limits/settings/budget-settings.ts'
import { pageOfAll } from '../../cursor.ts'
import { defineRoute, type Route, type RouteParts } from '../../route.ts'
import { given, givenTime, id, inOrganization, pageOf, pageQuery, time, toTime, toTimeOrNull } from '../../schemas.ts'
import { givenFields, shownFields, subject } from './limit-schemas.ts'
import type { Budget, BudgetRaise } from '../../../../limits/settings/setting.ts'

const budgetId = id('budget')
const scope = { subject, period: z.enum(budgetPeriods).describe('By the calendar, in UTC; weeks begin on Mondays.') }

const amounts = { microsMax: z.int().nullable(), tokensMax: z.int().nullable() }
const raise = z.strictObject({ ...amounts, until: time }).meta({ id: 'BudgetRaise' })

const raiseToSet = z
  .strictObject({ microsMax: z.int().optional(), tokensMax: z.int().optional(), until: givenTime })
  .meta({ id: 'BudgetRaiseToSet' })

const budget = z
  .strictObject({
    id: budgetId,
    ...scope,
    ...shownFields(budgetFields),
    setBy: z.enum(limitSetters).describe('What the installation sets, it alone changes.'),
    periodStartsAt: time.nullable().describe('Null for a lifetime, which also has no end.'),
    periodEndsAt: time.nullable(),
    raise: raise.nullable().describe('What it has instead until a time; null when that is over.'),
    alerts: z
      .array(z.strictObject({ percent: z.int(), reachedAt: time.nullable() }))
      .describe('When each of its alerts was reached in this period; null is not yet.'),
    spent: z.strictObject({ micros: z.int(), tokens: z.int() }).describe('By the ledger, in this period.'),
    reserved: z
      .strictObject({ micros: z.int(), tokens: z.int() })
      .nullable()
      .describe('Held by this process for requests under way; null before it has had any.'),
  })
  .meta({ id: 'Budget' })

const budgetToSet = z
  .strictObject({
    ...scope,
    ...givenFields(budgetFields),
  })
  .meta({ id: 'BudgetToSet' })

const path = '/api/v1/organizations/{organizationId}/budgets'

type Computed = 'periodStartsAt' | 'periodEndsAt' | 'raise' | 'alerts' | 'spent' | 'reserved'

function showRaise({ untilMs, ...values }: BudgetRaise): z.input<typeof raise> {
  return { ...values, until: toTime(untilMs) }
}

async function show({ accounts, management }: RouteParts, item: Budget): Promise<z.input<typeof budget>> {
  const { organizationId: _, raise: __, ...rest } = item
  // By the database of the call: inside a change nothing else may be asked.
  const { range, spent, alerts, raise: inForce } = await readBudgetUse(accounts.db, item, accounts.clock.nowMs())
  return {
    ...(rest as Omit<z.input<typeof budget>, Computed>),
    periodStartsAt: range.beforeMs === Infinity ? null : toTime(range.fromMs),
    periodEndsAt: range.beforeMs === Infinity ? null : toTime(range.beforeMs),
    raise: inForce === null ? null : showRaise(inForce),
    alerts: alerts.map(({ percent, reachedAtMs }) => ({ percent, reachedAt: toTimeOrNull(reachedAtMs) })),
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
    scope: 'subject',
    summary: 'Set a subject’s budget for each period or for all time; what is not given is not limited',
    params: inOrganization,
    body: budgetToSet,
    example: { subject: { kind: 'project', id: 'proj_default' }, period: 'month', microsMax: 50_000_000 },
    answer: budget,
    async work({ parts, principal, params: { organizationId }, body: { subject: whose, period, ...values } }) {
      const wanted = { organizationId, subject: whose, period, ...given(values) }
      return show(parts, await setBudget(parts.accounts, principal, wanted))
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
    async work({ parts, principal, params: { organizationId, budgetId: id } }) {
      await removeBudget(parts.accounts, principal, { id, organizationId })
    },
  }),
  defineRoute({
    method: 'PUT',
    path: `${path}/{budgetId}/raise`,
    permission: 'budgets:update',
    scope: 'organization',
    summary: 'Raise a budget until a time; what is not given stays as it is',
    params: inOrganization.extend({ budgetId }),
    body: raiseToSet,
    example: { tokensMax: 2_000_000, until: '2099-01-01T00:00:00Z' },
    answer: budget,
    async work({ parts, principal, params: { organizationId, budgetId: id }, body }) {
      const { microsMax = null, tokensMax = null, until } = body
      const wanted = { microsMax, tokensMax, untilMs: Date.parse(until) }
      return show(parts, await raiseBudget(parts.accounts, principal, { id, organizationId, raise: wanted }))
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: `${path}/{budgetId}/raise`,
    permission: 'budgets:update',
    scope: 'organization',
    summary: 'End the raise of a budget now',
    params: inOrganization.extend({ budgetId }),
    answer: 'nothing',
    async work({ parts, principal, params: { organizationId, budgetId: id } }) {
      await raiseBudget(parts.accounts, principal, { id, organizationId, raise: null })
    },
  }),
]
