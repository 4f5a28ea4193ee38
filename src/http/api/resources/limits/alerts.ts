import { z } from 'zod'
import { acknowledgeAlert, listAlerts, type Alert } from '../../../../limits/settings/budget-alerts.ts'
import { pageOfAll } from '../../cursor.ts'
import { defineRoute, type Route } from '../../route.ts'
import { id, inOrganization, pageOf, pageQuery, time, toPage, toTime, toTimeOrNull } from '../../schemas.ts'

const alertId = id('alert')
const alert = z
  .strictObject({
    id: alertId,
    budgetId: z.string(),
    percent: z.int().describe('The share of the budget that was spent.'),
    periodStartsAt: time,
    reachedAt: time,
    spent: z.strictObject({ micros: z.int(), tokens: z.int() }).describe('At that moment.'),
    acknowledgedAt: time.nullable(),
    acknowledgedBy: z.string().nullable().describe('As the audit names actors.'),
  })
  .meta({ id: 'Alert' })

function show(item: Alert): z.input<typeof alert> {
  return {
    id: item.id as z.input<typeof alertId>,
    budgetId: item.budgetId,
    percent: item.percent,
    periodStartsAt: toTime(item.periodStartMs),
    reachedAt: toTime(item.reachedAtMs),
    spent: { micros: item.spentMicros, tokens: item.spentTokens },
    acknowledgedAt: toTimeOrNull(item.acknowledgedAtMs),
    acknowledgedBy: item.acknowledgedBy,
  }
}

const path = '/api/v1/organizations/{organizationId}/alerts'

/** Newest first, in a list that is sorted by its keys. */
function keyOf({ id: own, reachedAtMs }: Alert): string {
  return `${String(999_999_999_999_999 - reachedAtMs).padStart(15, '0')}-${own}`
}

export const alertRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path,
    permission: 'alerts:read',
    scope: 'organization',
    summary: 'List the alerts of budgets, newest first',
    params: inOrganization,
    query: pageQuery.extend({ state: z.enum(['open', 'acknowledged']).optional() }),
    answer: pageOf(alert),
    async work({ parts, principal, params, query: { state = null, ...page } }) {
      return toPage(pageOfAll(await listAlerts(parts.accounts, principal, { ...params, state }), page, keyOf), show)
    },
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/{alertId}/acknowledge`,
    permission: 'alerts:update',
    scope: 'organization',
    summary: 'Note that an alert was seen',
    params: inOrganization.extend({ alertId }),
    answer: 'nothing',
    work: ({ parts, principal, params: { alertId: seen, ...params } }) =>
      acknowledgeAlert(parts.accounts, principal, { ...params, id: seen }),
  }),
]
