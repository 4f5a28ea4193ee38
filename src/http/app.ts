import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type HTTPMethods } from 'fastify'
import { ApiError } from '../core/error.ts'
import { randomId } from '../lib/random-id.ts'
import { sendError } from './errors.ts'
import { healthRoute, readinessRoute } from './health.ts'
import { answerMalformed } from './malformed.ts'
import { authenticate } from './middleware/authenticate.ts'
import { logAccess } from './middleware/access-log.ts'
import type { HttpParts } from './parts.ts'
import { countTokensRoute } from './v1/count-tokens.ts'
import { generationRoute } from './v1/generation-route.ts'
import { listModelsRoute, retrieveModelRoute } from './v1/models.ts'
import { refusePath } from './v1/unsupported.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<void>

/** The route table: every path with what it answers, and the steps that all of them share. */
export function createApp(parts: HttpParts): FastifyInstance {
  const app = fastify({
    logger: false,
    genReqId: () => `req_${randomId()}`,
    requestIdHeader: false,
    exposeHeadRoutes: false,
    frameworkErrors: (error, request, reply) => sendError(parts, request, reply, error),
    clientErrorHandler: answerMalformed,
    // A drained service answers its last requests itself, in the right format.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    http: {
      headersTimeout: 10_000,
      // For receiving a request. Answers take as long as they take: nothing here limits them.
      requestTimeout: 120_000,
      connectionsCheckingInterval: 2_000,
      keepAliveTimeout: 75_000,
      maxHeaderSize: 16_384,
    },
  })

  app.addHook('onRequest', (request, reply, next) => {
    void reply.headers({ 'x-request-id': request.id, 'request-id': request.id })
    // Whatever type a body claims to have, it is JSON or refused as not being JSON.
    delete request.raw.headers['content-type']
    logAccess(parts, request, reply)
    next()
  })
  app.removeAllContentTypeParsers()
  // Routes read the body themselves, after they have checked the key.
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler((error, request, reply) => sendError(parts, request, reply, error))
  app.setNotFoundHandler((request) => refusePath(parts, request))

  const route = (path: string, handlers: Partial<Record<HTTPMethods, Handler>>) => addRoute(app, parts, path, handlers)
  route('/v1/chat/completions', { POST: generationRoute(parts, parts.chatCompletions) })
  route('/v1/messages', { POST: generationRoute(parts, parts.messages) })
  route('/v1/messages/count_tokens', { POST: countTokensRoute(parts) })
  route('/v1/models', { GET: listModelsRoute(parts) })
  route('/v1/models/:id', { GET: retrieveModelRoute(parts) as Handler })
  route('/healthz', { GET: healthRoute })
  route('/readyz', { GET: readinessRoute(parts) })
  // A client warms its connection up with this one; any answer will do.
  app.head('/api/hello', async (_request, reply) => reply.send())
  app.head('/', async (_request, reply) => reply.send())
  return app
}

const methods: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Adds a path with its handlers; every other method is told which ones there are. */
function addRoute(
  app: FastifyInstance,
  parts: HttpParts,
  path: string,
  handlers: Partial<Record<HTTPMethods, Handler>>,
): void {
  const allowed = Object.keys(handlers)
  for (const method of methods) {
    const handler = handlers[method]
    app.route({
      method,
      url: path,
      handler: handler ?? ((request) => refuseMethod(parts, request, allowed)),
    })
  }
}

async function refuseMethod(parts: HttpParts, request: FastifyRequest, allowed: readonly string[]): Promise<never> {
  if (request.url.startsWith('/v1/')) await authenticate(parts.apiKeys, request.headers)
  throw new ApiError(
    { code: 'method-not-allowed', allowed },
    `${request.method} is not possible here; use ${allowed.join(' or ')}.`,
  )
}
