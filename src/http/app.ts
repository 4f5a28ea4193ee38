import type { IncomingHttpHeaders } from 'node:http'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods } from 'fastify'
import { ApiError } from '../core/error.ts'
import type { Format } from '../protocols/format.ts'
import { addManagementRoutes, refuseOtherMethod } from './api/routes.ts'
import { Bodies } from './bodies/bodies.ts'
import { closeGently } from './connections/close-gently.ts'
import { breakOffOf, waitToContinue, watchHalfClosed } from './connections/connection-events.ts'
import { createConnections } from './connections/open-connections.ts'
import { MalformedRequests } from './connections/raw-answers.ts'
import { countDescriptors, readDescriptorsMax, watchDescriptors } from './connections/watch-descriptors.ts'
import { cspReportsRoute } from './dashboard/csp-reports.ts'
import { reportsPath } from './dashboard/policy.ts'
import { auditKeysPath, auditKeysRoute, documentRoutes } from './documents/documents.ts'
import { statusRoutes } from './documents/status-page.ts'
import { sendError } from './errors.ts'
import { healthRoute, readinessRoute } from './health.ts'
import { authenticate } from './middleware/authenticate.ts'
import { createCrossOrigin } from './middleware/cross-origin.ts'
import { httpMethods, methodNotAllowed } from './methods.ts'
import type { Door, HttpParts } from './parts.ts'
import { pathOf } from './request-path.ts'
import { addScimRoutes } from './scim/scim-routes.ts'
import { addAgentRoutes } from './agents/agent-routes.ts'
import { addSsoRoutes } from './sso/sso-routes.ts'
import { refuseExpectations, requireHost, serverOptions } from './server.ts'
import { formatRoute } from './v1/format-routes.ts'
import { authenticateSession, playgroundPath } from './v1/playground.ts'
import { listModelsRoute, retrieveModelRoute } from './v1/models.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>
type Handlers = Partial<Record<HTTPMethods, Handler>>

/** The door: every path with what it answers, and the steps that all of them share. */
export function createApp(parts: HttpParts): FastifyInstance {
  const { clock } = parts.inference
  const connections = createConnections(parts)
  const malformed = new MalformedRequests(connections, clock)
  const app = fastify({
    ...serverOptions(parts.bounds),
    trustProxy: parts.trustedProxies.length > 0 && [...parts.trustedProxies],
    clientErrorHandler: (error, socket) => malformed.answer(error, socket),
    frameworkErrors: (error, request, reply) => sendError(parts, request, reply, error),
  })
  connections.watch(app.server)
  waitToContinue(app.server)
  refuseExpectations(app.server, clock)
  watchHalfClosed(app.server, connections)
  const descriptorsMax = readDescriptorsMax()
  const stopWatching = watchDescriptors({ clock, log: parts.log, descriptorsMax, count: countDescriptors })
  const answerOtherOrigins = createCrossOrigin(parts)
  app.addHook('onRequest', (request, reply, next) => {
    void reply.headers({ 'x-request-id': request.id, 'request-id': request.id })
    requireHost(request.raw, reply.raw)
    // Whatever type a body claims to have, it is JSON or refused as not being JSON.
    delete request.raw.headers['content-type']
    logAccess(parts, request, reply)
    if (!takesBody.has(request.method) && hasBody(request.raw.headers)) {
      // Nobody will read it, and it must not keep the connection.
      void reply.header('connection', 'close')
      closeGently(reply.raw, clock)
    }
    if (!answerOtherOrigins(request, reply)) next()
  })
  app.removeAllContentTypeParsers()
  // Routes read the body themselves, after they have checked the key.
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler((error, request, reply) => sendError(parts, request, reply, error))

  const door: Door = { ...parts, bodies: new Bodies({ ...parts, clock }) }
  app.addHook('onClose', async () => {
    stopWatching()
    await door.bodies.close()
  })
  const routes = withHeads(routeTable(door))
  for (const [path, handlers] of Object.entries(routes)) addRoute(app, parts, path, handlers)
  addManagementRoutes(app, door)
  addSsoRoutes(app, door)
  addAgentRoutes(app, door)
  addScimRoutes(app, door)
  app.setNotFoundHandler((request, reply) => {
    refuseOtherMethod(request)
    if (parts.dashboard?.answer(request, reply) === true) return reply
    const known = routes[pathOf(request.url)]
    // A path that is spelled so that it is no route is no method's fault.
    const isPath = known !== undefined && !Object.hasOwn(known, request.method)
    return isPath ? refuseMethod(parts, request, known) : refusePath(parts, request)
  })
  // A client warms its connection up with this one; any answer will do.
  app.head('/api/hello', async (_request, reply) => reply.send())
  app.head('/', async (_request, reply) => reply.send())
  return app
}

function routeTable(parts: Door): Readonly<Record<string, Handlers>> {
  return {
    ...Object.fromEntries(
      parts.formats.flatMap((format) =>
        format.routes.flatMap((route) => [
          [route.path, { POST: formatRoute(parts, format, route, authenticate) }] as const,
          [playgroundPath(format, route), { POST: formatRoute(parts, format, route, authenticateSession) }] as const,
        ]),
      ),
    ),
    ...documentRoutes(parts.formats),
    ...statusRoutes(parts),
    '/v1/models': { GET: listModelsRoute(parts) },
    '/v1/models/:id': { GET: retrieveModelRoute(parts) as Handler },
    '/healthz': { GET: healthRoute },
    '/readyz': { GET: readinessRoute(parts) },
    [auditKeysPath]: { GET: auditKeysRoute(parts) },
    [reportsPath]: { POST: cspReportsRoute(parts) },
  }
}

/** What can be read answers HEAD too, as GET (RFC 9110, 9.1); the server leaves the body out. */
function withHeads(routes: Readonly<Record<string, Handlers>>): Readonly<Record<string, Handlers>> {
  const entries = Object.entries(routes).map(([path, handlers]) => {
    const { GET } = handlers
    return [path, GET === undefined ? handlers : { ...handlers, HEAD: GET }] as const
  })
  return Object.fromEntries(entries)
}

const takesBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Adds a path with its handlers; every other method is told which ones there are. */
function addRoute(app: FastifyInstance, parts: HttpParts, path: string, handlers: Handlers): void {
  for (const method of httpMethods) {
    const handler = handlers[method] ?? ((request: FastifyRequest) => refuseMethod(parts, request, handlers))
    app.route({ method, url: path, handler })
  }
}

async function refuseMethod(parts: HttpParts, request: FastifyRequest, handlers: Handlers): Promise<never> {
  if (pathOf(request.url).startsWith('/v1/')) await authenticate(parts, request, null)
  throw methodNotAllowed(request.method, Object.keys(handlers))
}

/** One line per answered request. The path is cut before the query: clients put keys there by mistake. */
export function logAccess({ log, metrics, inference }: HttpParts, request: FastifyRequest, reply: FastifyReply): void {
  const startedMs = inference.clock.monotonicMs()
  const path = request.url.split('?', 1)[0]?.slice(0, 200)
  reply.raw.once('close', () => {
    const { method } = request
    const brokeOff = breakOffOf(reply.raw) ?? (reply.raw.writableFinished ? null : 'client-left')
    // 499, as proxies log it: the client closed the connection before the answer was out.
    const status = brokeOff === 'client-left' ? 499 : reply.raw.statusCode
    const durationMs = Math.round(inference.clock.monotonicMs() - startedMs)
    metrics.answered({ route: request.routeOptions.url ?? 'other', method, status, durationMs })
    const end = brokeOff === null ? {} : { broke_off: brokeOff }
    log.info({ request_id: request.id, method, path, status, duration_ms: durationMs, ...end }, 'request')
  })
}

/**
 * Refuses a path that is not served.
 *
 * A wrong base address is explained to anyone; below `/v1` the key is checked
 * first, so that a stranger learns nothing about what is there.
 */
export async function refusePath(parts: HttpParts, request: FastifyRequest): Promise<never> {
  const path = pathOf(request.url)
  const { formats } = parts
  const hint = formats.map(({ wrongBaseHints }) => wrongBaseHints[path]).find((found) => found !== undefined)
  if (hint !== undefined) throw new ApiError({ code: 'unknown-url' }, hint)
  if (path.startsWith('/v1/')) await authenticate(parts, request, null)
  const wayOn = formats.map((format) => findWayOn(format, path)).find((found) => found !== null)
  if (wayOn !== undefined && wayOn !== null) throw new ApiError({ code: 'unsupported-endpoint' }, wayOn)
  const route = formats.flatMap(({ routes }) => routes).find((known) => path === `${known.path}/`)
  if (route !== undefined) {
    const text = `There is nothing at this address. Remove the slash at its end: POST ${route.path}.`
    throw new ApiError({ code: 'unknown-url' }, text)
  }
  const bases = formats.map(({ baseHint }) => baseHint).join(', ')
  throw new ApiError({ code: 'unknown-url' }, `There is nothing at this address. ${bases}.`)
}

/** Below a route there may be something unsupported; the route itself, with a slash too many, is a wrong address. */
function findWayOn({ routes, unsupported }: Format, path: string): string | null {
  const isKnown = (known: string) =>
    path.startsWith(`${known}/`) ? path.length > known.length + 1 || !isRoute(known) : path === known
  const isRoute = (known: string) => routes.some((route) => route.path === known)
  return Object.entries(unsupported).find(([known]) => isKnown(known))?.[1] ?? null
}
