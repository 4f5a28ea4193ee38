import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../core/error.ts'
import { noteBreakOff } from '../connections/connection-events.ts'
import type { Door, HttpParts } from '../parts.ts'
import { anonymous, authorize, findAsker, watchAsker } from './authorize.ts'
import { BrowserExchange } from './browser.ts'
import { carryOut, createRouteParts, type Asked } from './carry-out.ts'
import { sendJson } from './compressed.ts'
import { EventHub } from './events/event-hub.ts'
import { eventRoutes } from './events/event-routes.ts'
import { requestTailRoutes } from './events/request-tail.ts'
import { FailedAttempts } from './failed-attempts.ts'
import { describeApi, openApiPath } from './openapi.ts'
import { noteReading } from './note-reading.ts'
import { NotedReadings } from './noted-readings.ts'
import { answerHeaders } from './problem.ts'
import { createQueryReader, readAskedOrganization, readBody, readParams } from './read-input.ts'
import { alertRoutes } from './resources/limits/alerts.ts'
import { auditSinkRoutes } from './resources/audit/audit-sinks.ts'
import { channelRoutes } from './resources/alerts/channels.ts'
import { alertEventRoutes } from './resources/alerts/events.ts'
import { silenceRoutes } from './resources/alerts/silences.ts'
import { availabilityRoutes } from './resources/statements/availability.ts'
import { apiKeyRoutes } from './resources/api-keys.ts'
import { auditRoutes } from './resources/audit/audit-record.ts'
import { auditLogRoutes } from './resources/audit/audit-log.ts'
import { clientRoutes } from './resources/clients.ts'
import { budgetRoutes } from './resources/limits/budgets.ts'
import { invoiceRoutes } from './resources/statements/invoices.ts'
import { ledgerRoutes } from './resources/ledger.ts'
import { limitRequestRoutes } from './resources/limits/limit-requests.ts'
import { portalRoutes } from './portal/portal-routes.ts'
import { effectiveLimitRoutes, limitRoutes } from './resources/limits/limits.ts'
import { managementKeyRoutes } from './resources/management-keys.ts'
import { memberRoutes } from './resources/members.ts'
import { organizationRoutes } from './resources/organizations.ts'
import { overviewRoutes } from './resources/overview.ts'
import { priceRoutes } from './resources/prices.ts'
import { projectRoutes } from './resources/projects.ts'
import { recordingRoutes } from './resources/recordings.ts'
import { requestRoutes } from './resources/requests.ts'
import { searchRoutes } from './resources/search.ts'
import { taskRoutes } from './resources/tasks.ts'
import { roleRoutes } from './resources/roles.ts'
import { serviceAccountRoutes } from './resources/service-accounts.ts'
import { tierRoutes } from './resources/limits/tiers.ts'
import { refusalRoutes } from './resources/refusals.ts'
import { usageSeriesRoutes } from './resources/usage-series.ts'
import { usageRoutes } from './resources/usage.ts'
import { engineRoutes } from './resources/engines.ts'
import { installationPeopleRoutes } from './resources/installation/people.ts'
import { systemRoutes } from './resources/installation/system.ts'
import { fleetRoutes } from './resources/installation/fleet.ts'
import { poolRoutes } from './resources/installation/pools.ts'
import { invitationRoutes } from './sign-in/invitation-routes.ts'
import { meRoutes } from './sign-in/me-routes.ts'
import { passkeyOptionsRoutes } from './sign-in/passkey-options.ts'
import { agentRoutes } from './sign-in/agent-routes.ts'
import { sessionListRoutes } from './sign-in/session-list-routes.ts'
import { sessionRoutes } from './sign-in/session-routes.ts'
import { setupRoutes } from './sign-in/setup-routes.ts'
import { connectionRoutes } from './single-sign-on/connection-routes.ts'
import { groupMappingRoutes } from './single-sign-on/group-mapping-routes.ts'
import { samlRoutes } from './single-sign-on/saml-routes.ts'
import { directoryRoutes } from './single-sign-on/directory-routes.ts'
import { domainRoutes } from './single-sign-on/domain-routes.ts'
import { identityRoutes } from './single-sign-on/identity-routes.ts'
import { httpMethods, methodNotAllowed } from '../methods.ts'
import { pathOf } from '../request-path.ts'
import { PathMethods } from './path-methods.ts'
import type { Bytes, Export, Route } from './route.ts'

/** Every route of the management API: what is not here is not served, and what is here says which permission it needs. */
export const routes: readonly Route[] = [
  ...organizationRoutes,
  ...projectRoutes,
  ...memberRoutes,
  ...apiKeyRoutes,
  ...managementKeyRoutes,
  ...serviceAccountRoutes,
  ...roleRoutes,
  ...tierRoutes,
  ...limitRoutes,
  ...limitRequestRoutes,
  ...effectiveLimitRoutes,
  ...budgetRoutes,
  ...alertRoutes,
  ...channelRoutes,
  ...silenceRoutes,
  ...alertEventRoutes,
  ...overviewRoutes,
  ...taskRoutes,
  ...searchRoutes,
  ...priceRoutes,
  ...usageRoutes,
  ...usageSeriesRoutes,
  ...refusalRoutes,
  ...availabilityRoutes,
  ...invoiceRoutes,
  ...ledgerRoutes,
  ...requestRoutes,
  ...recordingRoutes,
  ...requestTailRoutes,
  ...auditRoutes,
  ...auditLogRoutes,
  ...auditSinkRoutes,
  ...engineRoutes,
  ...poolRoutes,
  ...fleetRoutes,
  ...systemRoutes,
  ...installationPeopleRoutes,
  ...setupRoutes,
  ...sessionRoutes,
  ...passkeyOptionsRoutes,
  ...sessionListRoutes,
  ...meRoutes,
  ...agentRoutes,
  ...invitationRoutes,
  ...portalRoutes,
  ...clientRoutes,
  ...connectionRoutes,
  ...groupMappingRoutes,
  ...samlRoutes,
  ...domainRoutes,
  ...directoryRoutes,
  ...identityRoutes,
  ...eventRoutes,
]

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

/** Adds the management API to the door. What has no route here may still be a path that has other methods. */
export function addManagementRoutes(app: FastifyInstance, parts: Door): void {
  const { accounts, feed, signIn } = parts.management
  const watched = {
    attempts: new FailedAttempts(accounts.clock, accounts.db),
    readings: new NotedReadings(accounts.clock),
    events: new EventHub({ db: accounts.db, clock: accounts.clock, feed, signIn }),
  }
  const refuse: Handler = async (request) => refuseOtherMethod(request)
  for (const [path, own] of routesByPath) {
    const url = urlOf(path)
    for (const route of own) app.route({ method: route.method, url, handler: createHandler(parts, watched, route) })
    if (!paths.isShadowed(path)) continue
    const others = httpMethods.filter((method) => own.every((route) => route.method !== method))
    app.route({ method: others, url, handler: refuse })
  }
  // It takes a tenth of a second to make, for which no start should wait.
  let text: string | null = null
  const describe: Handler = async (_request, reply) => {
    text ??= JSON.stringify(describeApi(routes))
    return reply.headers(answerHeaders).type('application/json').send(text)
  }
  app.get(openApiPath, describe)
}

const routesByPath: ReadonlyMap<string, readonly Route[]> = Map.groupBy(routes, ({ path }) => path)
const paths = new PathMethods(
  new Map([
    ...Array.from(routesByPath, ([path, own]) => [path, own.map(({ method }) => method)] as const),
    [openApiPath, ['GET']],
  ]),
)

/** A path as the router spells it. */
function urlOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name) => (name === 'tile' ? '*' : `:${name}`))
}

/** Refuses a method that a path of the management API does not have. Nothing comes of it where there is no such path. */
export function refuseOtherMethod(request: FastifyRequest): void {
  const allowed = paths.find(pathOf(request.url))
  if (allowed !== null) throw methodNotAllowed(request.method, allowed)
}

function createHandler(parts: Door, watched: Pick<Asked, 'attempts' | 'events' | 'readings'>, route: Route): Handler {
  const readQuery = createQueryReader(route)
  const { management } = parts
  return async (request, reply) => {
    const browser = new BrowserExchange(request, management)
    const shown = { head: request, browser }
    const asker = route.permission === 'public' ? null : await findAsker(management, watched.attempts, shown)
    const session = asker !== null && 'session' in asker ? asker.session : null
    if (route.method !== 'GET' && (asker === null || session !== null)) browser.requireSameOrigin()
    const params = readParams(route, request)
    const named = { ...params, ...readAskedOrganization(route, request) }
    const principal = asker === null ? anonymous : await authorize(management, asker, route, named)
    const query = readQuery(request)
    const body = await readBody(route, request, parts.bodies)
    refuseVouched(route, session)
    requireProof(management, route, { session, body })
    const isSameAsker =
      asker === null ? () => Promise.resolve(true) : watchAsker(management, watched.attempts, shown, asker)
    const asked: Asked = { route, request, principal, browser, ...watched, session, isSameAsker, params, query, body }
    return route.method === 'GET' ? answerRead(parts, asked, reply) : answerChange(parts, asked, reply)
  }
}

/**
 * Throws where somebody changes their account whom a provider vouches for: its organization's administrators would get a
 * passkey by it that opens what the person has elsewhere, and that works on when the provider lets them in no more.
 */
function refuseVouched({ method, permission, isForVouched }: Route, session: Asked['session']): void {
  const isVouched = session !== null && session.connectionId !== null
  if (!isVouched || permission !== 'self' || method === 'GET' || isForVouched === true) return
  const message = 'Sign in without your organization’s provider to change how you sign in.'
  throw new ApiError({ code: 'permission-denied' }, message)
}

/** Throws where somebody has to show anew who they are. Keys are held by programs, which cannot. */
function requireProof(
  { accounts }: Door['management'],
  { needsProof }: Route,
  { session, body }: Pick<Asked, 'session' | 'body'>,
): void {
  if (session === null || needsProof === undefined || session.proof.freshUntilMs > accounts.clock.nowMs()) return
  if (needsProof !== true && !needsProof(body as never)) return
  throw new ApiError(
    { code: 'permission-denied', needs: 'proof' },
    'Show again that it is you, and send this once more.',
  )
}

async function answerRead(parts: HttpParts, asked: Asked, reply: FastifyReply): Promise<unknown> {
  const { route } = asked
  const routeParts = createRouteParts(parts, asked, () => {})
  const answer = await route.work({ ...asked, parts: routeParts })
  await noteReading(routeParts, asked)
  void reply.headers(answerHeaders)
  sendCookies(asked, reply)
  if (route.answer === 'export') return sendExport(answer as Export, reply)
  if (route.answer === 'events') return sendEvents(answer as AsyncIterable<string>, reply)
  if (route.answer === 'bytes') return sendBytes(answer as Bytes, reply)
  return sendJson(JSON.stringify(answer), asked.request, reply)
}

/** Streams an export. Where reading fails midway the connection is cut, so that what was sent does not look complete. */
function sendExport({ contentType, fileName, chunks }: Export, reply: FastifyReply): unknown {
  void reply.header('content-disposition', `attachment; filename="${fileName}"`)
  return reply.type(contentType).send(Readable.from(notingFailure(chunks, reply), { objectMode: false }))
}

function sendBytes({ contentType, cacheControl, bytes }: Bytes, reply: FastifyReply): unknown {
  return reply.header('cache-control', cacheControl).type(contentType).send(bytes)
}

/** What stands between here and the browser must not keep events back. */
function sendEvents(events: AsyncIterable<string>, reply: FastifyReply): unknown {
  void reply.header('x-accel-buffering', 'no').type('text/event-stream')
  return reply.send(Readable.from(events, { objectMode: false }))
}

/** The head has said 200 by then: only the log can tell a failure of ours from a client that left. */
async function* notingFailure(chunks: AsyncIterable<string>, reply: FastifyReply): AsyncGenerator<string> {
  try {
    yield* chunks
  } catch (error) {
    noteBreakOff(reply.raw, 'internal')
    throw error
  }
}

async function answerChange(parts: HttpParts, asked: Asked, reply: FastifyReply): Promise<unknown> {
  const { status, body, isRepeated } = await carryOut(parts, asked)
  void reply.code(status).headers(answerHeaders)
  sendCookies(asked, reply)
  if (isRepeated) void reply.header('idempotency-replayed', 'true')
  return status === 204 ? reply.send() : reply.type('application/json').send(body)
}

function sendCookies({ browser: { cookies } }: Pick<Asked, 'browser'>, reply: FastifyReply): void {
  if (cookies.length > 0) void reply.header('set-cookie', [...cookies])
}
