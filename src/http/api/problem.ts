import { ApiError, type ApiErrorCode, type ErrorPath } from '../../core/error.ts'
import type { RequestId } from '../../core/ids.ts'
import { errorHeaders } from '../../protocols/error-headers.ts'
import type { EncodedError, Json } from '../../protocols/protocol.ts'

export type FieldError = { readonly path: string; readonly message: string }

/** A request with one or more fields that are wrong, each told on its own. */
export class InvalidFields extends ApiError {
  readonly fields: readonly FieldError[]

  constructor(fields: readonly FieldError[]) {
    super({ code: 'invalid-request', path: null, fault: null }, 'Some of what was sent is not valid.')
    this.fields = fields
  }
}

type Kind = { readonly status: number; readonly title: string }

const invalid: Kind = { status: 400, title: 'The request is not valid' }
const missing: Kind = { status: 404, title: 'Not found' }
const failed: Kind = { status: 500, title: 'Internal error' }

/** Says how each failure is told. */
export const problemKinds: Readonly<Record<ApiErrorCode, Kind>> = {
  'invalid-request': invalid,
  'unsupported-feature': invalid,
  'context-exceeded': invalid,
  unauthenticated: { status: 401, title: 'Who asks is not known' },
  'permission-denied': { status: 403, title: 'Not permitted' },
  'not-found': missing,
  'model-not-found': missing,
  'unsupported-endpoint': missing,
  'unknown-url': missing,
  'method-not-allowed': { status: 405, title: 'Method not allowed' },
  'request-timeout': { status: 408, title: 'The request arrived too slowly' },
  conflict: { status: 409, title: 'Conflict' },
  'request-too-large': { status: 413, title: 'The request is too large' },
  'unsupported-encoding': { status: 415, title: 'Unsupported media type' },
  'rate-limited': { status: 429, title: 'Too many requests' },
  'budget-exceeded': { status: 429, title: 'The budget is spent' },
  'engine-failed': failed,
  internal: failed,
  overloaded: { status: 503, title: 'Not available at the moment' },
}

/** Never cached, and never taken for anything but what it says it is. */
export const answerHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

/** An error as problem details (RFC 9457). */
export function encodeProblem(error: ApiError, requestId: RequestId): EncodedError {
  const { status, title } = problemKinds[error.code]
  const fields = fieldsOf(error)
  const body: Json = {
    type: `urn:odyssey:problem:${typeOf(error)}`,
    title,
    status,
    detail: detailOf(error),
    instance: requestId,
    ...(fields.length > 0 && { errors: fields.map(({ path, message }) => ({ path, message })) }),
  }
  const type = { 'content-type': 'application/problem+json' }
  return { status, headers: { ...errorHeaders(error), ...answerHeaders, ...type }, body }
}

function typeOf({ reason }: ApiError): string {
  if (reason.code === 'permission-denied' && reason.needs === 'proof') return 'proof-needed'
  return reason.code === 'unknown-url' ? 'not-found' : reason.code
}

function detailOf({ code, message }: ApiError): string {
  if (code === 'unknown-url' || code === 'unsupported-endpoint') return 'There is nothing at this address.'
  // A message from deep inside may speak of hosts and files.
  if (code === 'internal' || code === 'engine-failed') return 'The server had an internal error.'
  return message
}

function fieldsOf(error: ApiError): readonly FieldError[] {
  if (error instanceof InvalidFields) return error.fields
  const { reason, message } = error
  if (reason.code !== 'invalid-request' || reason.path === null) return []
  return [{ path: formatPath(reason.path.map(toOutside)), message }]
}

/** Fields that are named differently inside. */
const outsideNames: ReadonlyMap<ErrorPath[number], string> = new Map([
  ['cursor', 'after'],
  ['expires', 'expiresAt'],
  ['overlap', 'overlapSeconds'],
])

function toOutside(key: ErrorPath[number]): ErrorPath[number] {
  return outsideNames.get(key) ?? key
}

/** A path in the names that it has: those of a client, or those of the API. */
export function formatPath(path: ErrorPath): string {
  return path.map(String).join('.')
}
