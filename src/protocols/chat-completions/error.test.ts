import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ApiError, invalidRequest, toApiError, type ApiErrorReason } from '../../core/error.ts'
import { encodeError, encodeStreamError, formatPath } from './error.ts'

function encode(reason: ApiErrorReason, message = 'text') {
  const { status, headers, body } = encodeError(new ApiError(reason, message), 'req_1')
  const { error } = body as { error: { message: string; type: string; param: string | null; code: string | null } }
  assert.deepEqual(Object.keys(error), ['message', 'type', 'param', 'code'])
  return { status, headers, ...error }
}

const refused = { 'x-should-retry': 'false' }
const invalid = 'invalid_request_error'

suite('errors', () => {
  test('an error has the fields of the format', () => {
    const faults = {
      missing: 'missing_required_parameter',
      type: 'invalid_type',
      value: 'invalid_value',
      'unsupported-field': 'unsupported_parameter',
      'unsupported-value': 'unsupported_value',
    } as const
    for (const [fault, code] of Object.entries(faults)) {
      const error = invalidRequest(['messages', 2, 'content'], fault as keyof typeof faults, 'text')
      assert.deepEqual(encodeError(error, 'req_1'), {
        status: 400,
        headers: refused,
        body: { error: { message: 'text', type: invalid, param: 'messages[2].content', code } },
      })
    }
    const badJson = encode({ code: 'invalid-request', path: null, fault: null, detail: 'invalid-json' })
    assert.deepEqual(badJson, {
      status: 400,
      headers: refused,
      message: 'text',
      type: invalid,
      param: null,
      code: null,
    })
  })

  test('every failure has its status, type and code', () => {
    const cases: readonly (readonly [ApiErrorReason, number, string, string | null])[] = [
      [{ code: 'unsupported-encoding' }, 400, invalid, 'unsupported_content_encoding'],
      [{ code: 'permission-denied' }, 403, invalid, 'permission_denied'],
      [{ code: 'not-found' }, 404, invalid, 'not_found'],
      [{ code: 'conflict' }, 409, invalid, 'conflict'],
      [{ code: 'unsupported-endpoint' }, 404, 'not_found_error', 'unsupported_endpoint'],
      [{ code: 'unknown-url' }, 404, 'not_found_error', 'unknown_url'],
      [{ code: 'request-timeout' }, 408, 'timeout', null],
      [{ code: 'rate-limited', retryAfterMs: 1 }, 429, 'rate_limit_error', 'rate_limit_exceeded'],
      [{ code: 'engine-failed' }, 500, 'server_error', 'internal_error'],
      [{ code: 'internal' }, 500, 'server_error', 'internal_error'],
      [{ code: 'overloaded', retryAfterMs: 1 }, 503, 'service_unavailable_error', 'server_is_overloaded'],
    ]
    for (const [reason, status, type, code] of cases) {
      const error = encode(reason)
      assert.deepEqual([error.status, error.type, error.code, error.param], [status, type, code, null], reason.code)
    }
  })

  test('sentences that clients look for are exact', () => {
    assert.deepEqual(encode({ code: 'context-exceeded', inputTokens: 131072, windowTokens: 125000 }), {
      status: 400,
      headers: refused,
      message:
        "This model's maximum context length is 125000 tokens. However, your messages resulted in 131072 tokens. Please reduce the length of the messages.",
      type: invalid,
      param: 'messages',
      code: 'context_length_exceeded',
    })
    assert.equal(
      encode({ code: 'context-exceeded', inputTokens: 125000, windowTokens: 125000 }).message,
      "This model's maximum context length is 125000 tokens. However, your messages resulted in 125000 tokens, which leaves no room for an answer. Please reduce the length of the messages.",
    )
    const available = ['hal-1.0', 'clarke-1.0', 'tycho-1.0']
    assert.deepEqual(encode({ code: 'model-not-found', model: 'gpt-4o', available }), {
      status: 404,
      headers: refused,
      message:
        'The model `gpt-4o` does not exist or you do not have access to it. Available models: hal-1.0, clarke-1.0, tycho-1.0. In its place use clarke-1.0.',
      type: invalid,
      param: 'model',
      code: 'model_not_found',
    })
    const long = encode({ code: 'model-not-found', model: 'x'.repeat(100_000), available })
    assert.ok(long.message.length < 1000)
    assert.equal(
      encode({ code: 'request-too-large', bytesMax: 33554432, isUnpacked: false }).message,
      'Request body too large (limit 33554432 bytes).',
    )
  })

  test('keys are never shown whole', () => {
    const missing = encode({ code: 'unauthenticated', key: null })
    assert.deepEqual(missing, {
      status: 401,
      headers: { 'x-should-retry': 'false', 'www-authenticate': 'Bearer' },
      message: 'Missing API key: send Authorization: Bearer <key> or x-api-key',
      type: invalid,
      param: null,
      code: 'invalid_api_key',
    })
    assert.match(
      String(encode({ code: 'unauthenticated', key: { masked: 'sk-ab***yz', header: 'x-api-key' } }).message),
      /provided: sk-ab\*\*\*yz\./,
    )
    assert.ok(
      !String(encode({ code: 'unauthenticated', key: { masked: 'sk-whole', header: 'x-api-key' } }).message).includes(
        'whole',
      ),
    )
  })

  test('features a model lacks are named by their field', () => {
    const fields = {
      tools: 'tools',
      'json-output': 'response_format',
      logprobs: 'logprobs',

      'logit-bias': 'logit_bias',
      'output-min': 'min_tokens',
    } as const
    for (const [feature, param] of Object.entries(fields)) {
      const error = encode({ code: 'unsupported-feature', feature: feature as keyof typeof fields, path: null })
      assert.deepEqual([error.status, error.code, error.param], [400, 'unsupported_parameter', param])
      assert.ok(String(error.message).includes(param))
    }
    const path = ['messages', 0, 'content', 1, 'image_url']
    const image = encode({ code: 'unsupported-feature', feature: 'images', path })
    assert.deepEqual([image.message, image.param], ['this model accepts text only', 'messages[0].content[1].image_url'])
  })

  test('the methods of a path are named', () => {
    const error = encode({ code: 'method-not-allowed', allowed: ['GET', 'POST'] })
    assert.deepEqual(
      [error.status, error.code, error.headers],
      [405, 'method_not_supported', { ...refused, allow: 'GET, POST' }],
    )
  })

  test('nothing internal comes out', () => {
    const errors = [
      toApiError(new TypeError('llama at 10.0.0.5')),
      new ApiError({ code: 'engine-failed' }, 'vLLM at gpu-3 died'),
    ]
    for (const error of errors) {
      const encoded = JSON.stringify([encodeError(error, 'req_1'), encodeStreamError(error, 'req_1')])
      assert.ok(!/llama|vLLM|gpu|10\.0/.test(encoded))
      assert.ok(encoded.includes('req_1'))
    }
  })
})

test('an error inside a stream has no event name', () => {
  const parse = (reason: ApiErrorReason) => {
    const { event, data } = encodeStreamError(new ApiError(reason, 'text'), 'req_1')
    assert.equal(event, undefined)
    const { type, code, param } = (JSON.parse(data) as { error: Record<string, unknown> }).error
    return [type, code, param]
  }
  assert.deepEqual(parse({ code: 'engine-failed' }), ['server_error', 'stream_error', null])
  assert.deepEqual(parse({ code: 'internal' }), ['server_error', 'stream_error', null])
  assert.deepEqual(parse({ code: 'overloaded', retryAfterMs: 1 }), [
    'service_unavailable_error',
    'server_is_overloaded',
    null,
  ])
})

test('the path of a field is written with dots and brackets', () => {
  assert.equal(formatPath(null), null)
  assert.equal(formatPath([]), null)
  assert.equal(formatPath(['tools', 0, 'function', 'name']), 'tools[0].function.name')
})
