import type { ApiError, ApiErrorCode } from '../core/error.ts'
import type { RequestId } from '../core/ids.ts'
import { describeError } from './chat-completions/error.ts'
import { errorHeaders } from './error-headers.ts'
import type { EncodedError } from './protocol.ts'

/** Where the two formats name a kind of failure differently, the messages name: its clients read little else. */
const types: Readonly<Partial<Record<ApiErrorCode, string>>> = {
  unauthenticated: 'authentication_error',
  'permission-denied': 'permission_error',
  'not-found': 'not_found_error',
  'model-not-found': 'not_found_error',
  'request-too-large': 'request_too_large',
  'request-timeout': 'timeout_error',
  overloaded: 'overloaded_error',
  'engine-failed': 'api_error',
  internal: 'api_error',
}

/** An error on a route that belongs to neither format: one body that the clients of both can read. */
export function encodeSharedError(error: ApiError, requestId: RequestId): EncodedError {
  const { status, message, param, code, type } = describeError(error, requestId)
  return {
    status,
    headers: errorHeaders(error),
    body: { type: 'error', error: { type: types[error.code] ?? type, message, param, code }, request_id: requestId },
  }
}
