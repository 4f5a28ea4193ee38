import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { ApiError } from '../../core/error.ts'
import type { Door, HttpParts } from '../parts.ts'
import { carryOut, createRouteParts, type Asked } from './carry-out.ts'
import { FailedAttempts } from './failed-attempts.ts'
import { findPrincipal } from './find-principal.ts'
import { describeApi, openApiPath } from './openapi.ts'
import { answerHeaders } from './problem.ts'
import { createQueryReader, readBody, readParams } from './read-input.ts'
import { requireAccess } from './require-access.ts'
import type { Export, Route } from './route.ts'
import { routes } from './routes.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

const methods: readonly HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Adds the management API to the door. */
export function addManagementRoutes(app: FastifyInstance, parts: Door): void {
  const attempts = new FailedAttempts(parts.management.accounts.clock)
  const byPath = Map.groupBy(routes, ({ path }) => path)
  for (const [path, own] of byPath) {
    const handlers = own.map((route) => [route.method, createHandler(parts, attempts, route)] as const)
    addPath(app, path, Object.fromEntries(handlers))
  }
  const text = JSON.stringify(describeApi(routes))
  addPath(app, openApiPath, {
    GET: async (_request, reply) => reply.headers(answerHeaders).type('application/json').send(text),
  })
}

/** The methods that a path does not have are told which ones it has. */
function addPath(app: FastifyInstance, path: string, handlers: Partial<Record<HTTPMethods, Handler>>): void {
  const allowed = Object.keys(handlers)
  const refuse: Handler = (request) => {
    const message = `${request.method} is not possible here; use ${allowed.join(' or ')}.`
    return Promise.reject(new ApiError({ code: 'method-not-allowed', allowed }, message))
  }
  const url = path.replaceAll(/\{(\w+)\}/g, ':$1')
  for (const method of methods) app.route({ method, url, handler: handlers[method] ?? refuse })
}

function createHandler(parts: Door, attempts: FailedAttempts, route: Route): Handler {
  const readQuery = createQueryReader(route)
  const { management } = parts
  return async (request, reply) => {
    const principal = await findPrincipal(management, attempts, request)
    const params = readParams(route, request)
    await requireAccess(management, principal, route, params)
    const query = readQuery(request)
    const body = await readBody(route, request, parts.bodies)
    const asked: Asked = { route, request, principal, params, query, body }
    return route.method === 'GET' ? answerRead(parts, asked, reply) : answerChange(parts, asked, reply)
  }
}

async function answerRead(
  parts: HttpParts,
  { route, request, ...asked }: Asked,
  reply: FastifyReply,
): Promise<unknown> {
  const routeParts = createRouteParts(parts, request, () => {})
  const answer = await route.work({ parts: routeParts, ...asked })
  void reply.headers(answerHeaders)
  if (route.answer === 'export') return sendExport(answer as Export, reply)
  return reply.type('application/json').send(JSON.stringify(answer))
}

/** Where reading fails midway the connection is cut, so that what was sent does not look complete. */
function sendExport({ contentType, fileName, chunks }: Export, reply: FastifyReply): unknown {
  void reply.header('content-disposition', `attachment; filename="${fileName}"`)
  return reply.type(contentType).send(Readable.from(chunks, { objectMode: false }))
}

async function answerChange(parts: HttpParts, asked: Asked, reply: FastifyReply): Promise<unknown> {
  const { status, body, isRepeated } = await carryOut(parts, asked)
  void reply.code(status).headers(answerHeaders)
  if (isRepeated) void reply.header('idempotency-replayed', 'true')
  return status === 204 ? reply.send() : reply.type('application/json').send(body)
}
