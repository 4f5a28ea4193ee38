import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, tellContact, toApiError } from '../core/error.ts'
import type { RequestId } from '../core/ids.ts'
import { RequestEnded } from '../core/request-ended.ts'
import type { EncodedError } from '../protocols/protocol.ts'
import { encodeSharedError } from '../protocols/shared-error.ts'
import type { Log } from '../telemetry/log.ts'
import { closeGently } from './connections/close-gently.ts'
import { noteBreakOff } from './connections/connection-events.ts'
import { encodeProblem } from './api/problem.ts'
import type { HttpParts } from './parts.ts'
import { pathOf } from './request-path.ts'
import { encodeScimError, isScimPath } from './scim/scim-error.ts'
import { playgroundFormat } from './v1/playground.ts'

/** The error body of the format whose path this is; shared routes answer in a shape that all formats' clients read. */
export function encodeErrorFor(parts: HttpParts, url: string, thrown: ApiError, requestId: RequestId): EncodedError {
  const error = tellContact(thrown, parts.contact ?? null)
  const path = pathOf(url)
  const asked = playgroundFormat(path)
  const owner = parts.formats.find(({ name, ownPaths }) =>
    asked === null ? ownPaths.some((own) => isBelow(path, own)) : name === asked,
  )
  if (owner !== undefined) return owner.protocol.encodeError(error, requestId)
  if (path === '/api/v1' || path.startsWith('/api/v1/')) return encodeProblem(error, requestId)
  if (isScimPath(path)) return encodeScimError(error, requestId)
  return encodeSharedError(error, requestId)
}

function isBelow(path: string, own: string): boolean {
  return own.endsWith('/') ? path.startsWith(own) : path === own
}

/** Answers with an error. What is not meant for the caller goes to the log under the same request id. */
export function sendError(parts: HttpParts, request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
  const error = fromFramework(thrown) ?? toApiError(thrown)
  noteFailure(parts, reply, error)
  // The status alone would look like that of a request that was never begun, or of a fault of a client that has left.
  if (error instanceof RequestEnded) noteBreakOff(reply.raw, error.endCause)
  const { status, headers, body } = encodeErrorFor(parts, request.url, error, request.id as RequestId)
  const isCutShort = !request.raw.complete
  // What is refused is not received to its end, however long its sender takes.
  if (isCutShort) closeGently(reply.raw, parts.inference.clock)
  if (isCutShort || parts.tracker.isDraining()) void reply.header('connection', 'close')
  void reply.headers({ 'x-request-id': request.id, 'request-id': request.id })
  const type = headers['content-type'] ?? 'application/json'
  void reply.code(status).headers(headers).type(type).send(JSON.stringify(body))
}

/** Counts a request whose caller is told of an error, and ends its span, unless the ledger's row has. */
export function noteFailure({ log, metrics, tracing }: HttpParts, reply: FastifyReply, error: ApiError): void {
  const { id } = reply.request
  logCause(log, id, error)
  if (!isUnheard(reply, error)) metrics.refused(error.code)
  tracing.refuse(id, error.code)
}

/** Whether the client has left and hears of no error; one that has only ended its own side does. */
function isUnheard({ raw }: FastifyReply, error: ApiError): boolean {
  return error instanceof RequestEnded && error.endCause === 'client-left' && (raw.closed || raw.destroyed)
}

/** Writes down what the caller of a failed request is not told. */
function logCause(log: Log, requestId: string, error: ApiError): void {
  if (error.cause !== undefined) log.error({ request_id: requestId, error: error.cause }, error.message)
}

/** The framework's own refusals, all of them faults of the request, carry their status in `statusCode`. */
function fromFramework(thrown: unknown): ApiError | null {
  if (thrown instanceof ApiError || !(thrown instanceof Error) || !('statusCode' in thrown)) return null
  const { statusCode } = thrown
  if (typeof statusCode !== 'number' || statusCode >= 500) return null
  if (statusCode === 404) return new ApiError({ code: 'unknown-url' }, 'There is nothing at this address.')
  return new ApiError({ code: 'invalid-request', path: null, fault: null }, 'The request could not be understood.')
}
