import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, invalidRequest, type ApiErrorReason } from '../../core/error.ts'
import type { Json } from '../protocol.ts'
import { encodeError, encodeStreamError } from './error.ts'

const requestId = 'req_0123456789abcdefghijklmn'

function encode(reason: ApiErrorReason, message = 'The message.') {
  const { status, headers, body } = encodeError(new ApiError(reason, message), requestId)
  return { status, headers, body, error: fieldsOf(body)['error'] as { type: string; message: string; details?: Json } }
}

function fieldsOf(body: Json): { readonly [key: string]: Json } {
  return body as { readonly [key: string]: Json }
}

const reasons: readonly (readonly [ApiErrorReason, number, string, string | undefined])[] = [
  [{ code: 'invalid-request', path: null, fault: null }, 400, 'invalid_request_error', 'false'],
  [{ code: 'unsupported-feature', feature: 'tools', path: null }, 400, 'invalid_request_error', 'false'],
  [{ code: 'unsupported-encoding' }, 400, 'invalid_request_error', 'false'],
  [{ code: 'context-exceeded', inputTokens: 2, windowTokens: 1 }, 400, 'invalid_request_error', 'false'],
  [{ code: 'unauthenticated', key: null }, 401, 'authentication_error', 'false'],
  [{ code: 'permission-denied' }, 403, 'permission_error', 'false'],
  [{ code: 'not-found' }, 404, 'not_found_error', 'false'],
  [{ code: 'conflict' }, 409, 'invalid_request_error', 'false'],
  [{ code: 'model-not-found', model: 'x', available: [] }, 404, 'not_found_error', 'false'],
  [{ code: 'unsupported-endpoint' }, 404, 'not_found_error', 'false'],
  [{ code: 'unknown-url' }, 404, 'not_found_error', 'false'],
  [{ code: 'method-not-allowed', allowed: ['POST'] }, 405, 'invalid_request_error', 'false'],
  [{ code: 'request-timeout' }, 408, 'timeout_error', undefined],
  [{ code: 'request-too-large', bytesMax: 1, isUnpacked: false }, 413, 'request_too_large', 'false'],
  [{ code: 'rate-limited', retryAfterMs: 1_000 }, 429, 'rate_limit_error', 'true'],
  [{ code: 'overloaded', retryAfterMs: 1_000 }, 529, 'overloaded_error', 'true'],
  [{ code: 'engine-failed' }, 500, 'api_error', undefined],
  [{ code: 'internal' }, 500, 'api_error', undefined],
]

test('every failure has its status, its type and its advice to retry', () => {
  for (const [reason, status, type, retry] of reasons) {
    const encoded = encode(reason)
    deepEqual(
      [encoded.status, encoded.error.type, encoded.headers['x-should-retry']],
      [status, type, retry],
      reason.code,
    )
    const { type: envelope, error: _, ...rest } = fieldsOf(encoded.body)
    deepEqual([envelope, rest], ['error', { request_id: requestId }])
  }
})

test('a failure of ours says nothing of its cause', () => {
  for (const code of ['engine-failed', 'internal'] as const) {
    equal(encode({ code }, 'llama child 7 exited at /srv/models').error.message, 'Internal server error')
  }
})

test('key phrases that agents match are exact', () => {
  const context: ApiErrorReason = { code: 'context-exceeded', inputTokens: 131_072, windowTokens: 125_000 }
  equal(encode(context).error.message, 'prompt is too long: 131072 tokens > 124999 maximum')
  const model: ApiErrorReason = { code: 'model-not-found', model: 'gpt-5', available: ['hal-1.0', 'clarke-1.0'] }
  equal(
    encode(model).error.message,
    'model: gpt-5 (available models: hal-1.0, clarke-1.0; in its place use clarke-1.0)',
  )
  equal(encode({ ...model, model: 'claude-haiku-4-5' }).error.message.includes('in its place'), false)
  ok(encode({ ...model, model: 'x'.repeat(9_000) }).error.message.length < 200)
  const path = ['messages', 2, 'content', 1, 'image']
  equal(
    encode({ code: 'unsupported-feature', feature: 'images', path }).error.message,
    'messages.2.content.1.image: Could not process image: this model accepts text only',
  )
  equal(
    encode({ code: 'request-too-large', bytesMax: 33_554_432, isUnpacked: false }).error.message,
    'Request exceeds the maximum size',
  )
})

test('a feature the model lacks is refused by the field that asks for it', () => {
  const refuse = (feature: 'tools' | 'json-output' | 'logprobs', path: (string | number)[] | null = null) =>
    encode({ code: 'unsupported-feature', feature, path }).error.message
  ok(refuse('tools').startsWith('tools: '))
  ok(refuse('json-output').startsWith('output_config.format: '))
  ok(refuse('tools', ['tools', 0]).startsWith('tools.0: '))
  ok(refuse('logprobs').length > 0)
})

test('a 401 asks for a key and repeats none', () => {
  const missing = encode({ code: 'unauthenticated', key: null }, 'sk-secret-key')
  equal(missing.headers['www-authenticate'], 'Bearer')
  ok(missing.error.message.startsWith('Missing API key'))
  const invalid = encode(
    { code: 'unauthenticated', key: { masked: 'sk-ab***yz', header: 'x-api-key' } },
    'sk-secret-key',
  )
  equal(invalid.error.message, 'invalid x-api-key')
})

test('a 405 names the methods that are allowed', () => {
  equal(encode({ code: 'method-not-allowed', allowed: ['GET', 'HEAD'] }).headers['allow'], 'GET, HEAD')
})

test('waits are whole seconds, and one of more than a minute comes with the advice not to retry', () => {
  for (const code of ['rate-limited', 'overloaded'] as const) {
    for (const [retryAfterMs, seconds, retry] of [
      [0, '1', 'true'],
      [1, '1', 'true'],
      [1_001, '2', 'true'],
      [60_000, '60', 'true'],
      [60_001, '61', 'false'],
      [9e9, '9000000', 'false'],
    ] as const) {
      const { headers } = encode({ code, retryAfterMs })
      deepEqual([headers['retry-after'], headers['x-should-retry']], [seconds, retry], String(retryAfterMs))
    }
  }
})

test('codes that client libraries know are in the details', () => {
  const invalid = (detail: 'thread-unsupported' | 'tool-name-conflict' | 'invalid-json') =>
    encode({ code: 'invalid-request', path: null, fault: null, detail }).error.details
  deepEqual(invalid('thread-unsupported'), { error_code: 'thread_unsupported_request', unsupported: ['thread'] })
  deepEqual(invalid('tool-name-conflict'), { error_code: 'tool_name_conflict' })
  equal(invalid('invalid-json'), undefined)
  deepEqual(encode({ code: 'unsupported-encoding' }).error.details, { error_code: 'request_body_encoding_unsupported' })
})

test('an error inside a stream is an event of its own with the same words', () => {
  const error = invalidRequest(['max_tokens'], 'missing', 'max_tokens: Field required')
  const frame = encodeStreamError(error, requestId)
  equal(frame.event, 'error')
  deepEqual(JSON.parse(frame.data), encodeError(error, requestId).body)
})
