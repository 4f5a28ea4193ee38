import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods } from 'fastify'
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../core/error.ts'
import { addManagementRoutes } from './api/add-routes.ts'
import { Bodies } from './bodies/bodies.ts'
import { sendError } from './errors.ts'
import { healthRoute, readinessRoute } from './health.ts'
import { MalformedRequests } from './connections/answer-malformed.ts'
import { closeGently } from './connections/close-gently.ts'
import { watchHalfClosed } from './connections/half-closed.ts'
import { createConnections } from './connections/create-connections.ts'
import { countDescriptors, readDescriptorsMax, watchDescriptors } from './connections/watch-descriptors.ts'
import { waitToContinue } from './connections/wait-to-continue.ts'
import { authenticate } from './middleware/authenticate.ts'
import { createCrossOrigin } from './middleware/cross-origin.ts'
import type { FormatRoute, OpenFormat } from '../protocols/format.ts'
import type { Door, HttpParts } from './parts.ts'
import { pathOf } from './request-path.ts'
import { refuseExpectations, requireHost, serverOptions } from './server-options.ts'
import { countTokensRoute } from './v1/count-tokens.ts'
import { generationRoute } from './v1/generation-route.ts'
import { listModelsRoute, retrieveModelRoute } from './v1/models.ts'
import { refusePath } from './v1/unsupported.ts'

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
  const routes = routeTable(door)
  for (const [path, handlers] of Object.entries(routes)) addRoute(app, parts, path, handlers)
  addManagementRoutes(app, door)
  app.setNotFoundHandler((request) => {
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
      parts.formats.flatMap((format) => format.routes.map((route) => formatRoute(parts, format, route))),
    ),
    '/v1/models': { GET: listModelsRoute(parts) },
    '/v1/models/:id': { GET: retrieveModelRoute(parts) as Handler },
    '/healthz': { GET: healthRoute },
    '/readyz': { GET: readinessRoute(parts) },
  }
}

function formatRoute(parts: Door, format: OpenFormat, route: FormatRoute): readonly [path: string, Handlers] {
  const create = route.use === 'generation' ? generationRoute : countTokensRoute
  return [route.path, { POST: create(parts, format, route) }]
}

const takesBody: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

function hasBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

const methods: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Adds a path with its handlers; every other method is told which ones there are. */
function addRoute(app: FastifyInstance, parts: HttpParts, path: string, handlers: Handlers): void {
  for (const method of methods) {
    const handler = handlers[method] ?? ((request: FastifyRequest) => refuseMethod(parts, request, handlers))
    app.route({ method, url: path, handler })
  }
}

async function refuseMethod(parts: HttpParts, request: FastifyRequest, handlers: Handlers): Promise<never> {
  if (pathOf(request.url).startsWith('/v1/')) await authenticate(parts, request, null)
  const allowed = Object.keys(handlers)
  const message = `${request.method} is not possible here; use ${allowed.join(' or ')}.`
  throw new ApiError({ code: 'method-not-allowed', allowed }, message)
}

/** One line per answered request. The path is cut before the query: clients put keys there by mistake. */
export function logAccess({ log, metrics, inference }: HttpParts, request: FastifyRequest, reply: FastifyReply): void {
  const startedMs = inference.clock.monotonicMs()
  const path = request.url.split('?', 1)[0]?.slice(0, 200)
  reply.raw.once('close', () => {
    const { method } = request
    // 499, as proxies log it: the client closed the connection before the answer was out.
    const status = reply.raw.writableFinished ? reply.raw.statusCode : 499
    const durationMs = Math.round(inference.clock.monotonicMs() - startedMs)
    metrics.answered({ route: request.routeOptions.url ?? 'other', method, status, durationMs })
    log.info({ request_id: request.id, method, path, status, duration_ms: durationMs }, 'request')
  })
}
