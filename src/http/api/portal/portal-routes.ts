import { z } from 'zod'
import { askForLimits, readLimitRequests } from '../../../limits/settings/limit-requests.ts'
import { writeExport } from '../export.ts'
import { asking, limitRequest, showLimitRequest } from '../resources/limits/limit-requests.ts'
import { defineRoute, type Route, type RouteParts } from '../route.ts'
import { nowhere } from '../schemas.ts'
import { portalAnswer, portalRequest, portalUsage } from './portal-schemas.ts'
import { openPortal, requirePortal } from './portal-session.ts'
import { describePortal, readPortalRequests, readPortalUsage, showPortalRequest } from './read-portal.ts'

const facts = { permission: 'public', scope: 'installation', params: nowhere } as const
const requestsShown = 100
const statementDays = 30
const rowsPerPage = 500
const dayMs = 24 * 60 * 60 * 1_000

/**
 * Where the owner of a key looks at it who has no account: the one place where an API key opens something else than the
 * models. It opens itself alone, and changes nothing: whoever finds a key must not lock its owner out.
 */
export const portalRoutes: readonly Route[] = [
  defineRoute({
    ...facts,
    method: 'POST',
    path: '/api/v1/portal/session',
    summary: 'Look at a key for half an hour, by showing it',
    hasOwnTransactions: true,
    body: z.strictObject({ key: z.string().max(200) }),
    example: { key: 'sk-ody-…' },
    answer: portalAnswer,
    work: async ({ parts, body }) => describePortal(parts, await openPortal(parts, body.key.trim())),
  }),
  defineRoute({
    ...facts,
    method: 'DELETE',
    path: '/api/v1/portal/session',
    summary: 'Stop looking at a key',
    answer: 'nothing',
    work({ parts }) {
      parts.browser.closePortal()
      return Promise.resolve()
    },
  }),
  defineRoute({
    ...facts,
    method: 'GET',
    path: '/api/v1/portal',
    summary: 'Show the key, its rules, limits, budgets and prices, to who has shown it',
    answer: portalAnswer,
    work: async ({ parts }) => describePortal(parts, await requirePortal(parts)),
  }),
  defineRoute({
    ...facts,
    method: 'GET',
    path: '/api/v1/portal/usage',
    summary: 'Sum up the last thirty days of the key',
    answer: portalUsage,
    work: async ({ parts }) => readPortalUsage(parts, (await requirePortal(parts)).access.principal),
  }),
  defineRoute({
    ...facts,
    method: 'GET',
    path: '/api/v1/portal/requests',
    summary: 'List the newest requests of the key, without their content',
    answer: z.strictObject({ data: z.array(portalRequest) }),
    async work({ parts }) {
      const { access } = await requirePortal(parts)
      const { rows } = await readPortalRequests(parts, access.principal, { after: null, limit: requestsShown })
      return { data: rows.map(showPortalRequest) }
    },
  }),
  defineRoute({
    ...facts,
    method: 'GET',
    path: '/api/v1/portal/statement',
    summary: 'Export the requests of the key of the last thirty days',
    answer: 'export',
    async work({ parts }) {
      const { access } = await requirePortal(parts)
      const pages = statementPages(parts, access.principal)
      return writeExport('csv', { name: `statement_${access.principal.apiKeyId}`, columns: statementColumns, pages })
    },
  }),
  defineRoute({
    ...facts,
    method: 'GET',
    path: '/api/v1/portal/limit-requests',
    summary: 'List what was asked for with the key, and the answers',
    answer: z.strictObject({ data: z.array(limitRequest.omit({ answeredBy: true })) }),
    async work({ parts }) {
      const { organizationId, apiKeyId } = (await requirePortal(parts)).access.principal
      const found = await readLimitRequests(parts.accounts.db, { organizationId, apiKeyId, state: null })
      return { data: found.map((one) => withoutNames(showLimitRequest(one))) }
    },
  }),
  defineRoute({
    ...facts,
    method: 'POST',
    path: '/api/v1/portal/limit-requests',
    summary: 'Ask for higher limits of the key',
    body: z.strictObject(asking),
    example: { wanted: { inputTokensPerMinute: 400_000 }, reason: 'More users.', contact: 'bo@example.org' },
    answer: 'nothing',
    async work({ parts, body }) {
      const { principal } = (await requirePortal(parts)).access
      const { organizationId, apiKeyId } = principal
      await askForLimits(parts.accounts, principal, { organizationId, apiKeyId, ...body })
    },
  }),
]

/** Who has no account is not told who has one. */
function withoutNames({ answeredBy: _, ...shown }: z.input<typeof limitRequest>) {
  return shown
}

const statementColumns = Object.keys(portalRequest.shape)

async function* statementPages(parts: RouteParts, principal: Parameters<typeof readPortalRequests>[1]) {
  const fromMs = parts.accounts.clock.nowMs() - statementDays * dayMs
  let after: Parameters<typeof readPortalRequests>[2]['after'] = null
  do {
    const page = await readPortalRequests(parts, principal, { after, limit: rowsPerPage, fromMs })
    yield page.rows.map(showPortalRequest)
    after = page.next
  } while (after !== null)
}
