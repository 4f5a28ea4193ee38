import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, type ApiErrorReason } from '../core/error.ts'
import { encodeSharedError } from './shared-error.ts'

test('a shared error has one body that the clients of both formats read', () => {
  const error = new ApiError(
    { code: 'unsupported-endpoint' },
    'The responses format is not offered; use POST /v1/chat/completions.',
  )
  assert.deepEqual(encodeSharedError(error, 'req_1'), {
    status: 404,
    headers: { 'x-should-retry': 'false' },
    body: {
      type: 'error',
      error: {
        type: 'not_found_error',
        message: 'The responses format is not offered; use POST /v1/chat/completions.',
        param: null,
        code: 'unsupported_endpoint',
      },
      request_id: 'req_1',
    },
  })
})

test('the types of shared errors are those that the messages clients know', () => {
  const cases: readonly (readonly [ApiErrorReason, number, string, string | null])[] = [
    [{ code: 'unauthenticated', key: null }, 401, 'authentication_error', 'invalid_api_key'],
    [{ code: 'permission-denied' }, 403, 'permission_error', 'permission_denied'],
    [{ code: 'not-found' }, 404, 'not_found_error', 'not_found'],
    [{ code: 'model-not-found', model: 'x', available: [] }, 404, 'not_found_error', 'model_not_found'],
    [{ code: 'method-not-allowed', allowed: ['GET'] }, 405, 'invalid_request_error', 'method_not_supported'],
    [{ code: 'request-timeout' }, 408, 'timeout_error', null],
    [{ code: 'request-too-large', bytesMax: 1, isUnpacked: false }, 413, 'request_too_large', 'request_too_large'],
    [{ code: 'rate-limited', retryAfterMs: 1 }, 429, 'rate_limit_error', 'rate_limit_exceeded'],
    [{ code: 'internal' }, 500, 'api_error', 'internal_error'],
    [{ code: 'overloaded', retryAfterMs: 1 }, 503, 'overloaded_error', 'server_is_overloaded'],
  ]
  for (const [reason, status, type, code] of cases) {
    const encoded = encodeSharedError(new ApiError(reason, 'text'), 'req_1')
    const { error } = encoded.body as { error: Record<string, unknown> }
    assert.deepEqual([encoded.status, error['type'], error['code']], [status, type, code])
  }
})
