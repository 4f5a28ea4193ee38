import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, type ApiErrorReason } from '../core/error.ts'
import { errorHeaders } from './error-headers.ts'

const of = (reason: ApiErrorReason) => errorHeaders(new ApiError(reason, ''))

test('retry-after is the wait in whole seconds, also where clients are told not to wait that long', () => {
  const cases: readonly (readonly [number, Record<string, string>])[] = [
    [-5, { 'retry-after': '1', 'retry-after-ms': '1', 'x-should-retry': 'true' }],
    [0, { 'retry-after': '1', 'retry-after-ms': '1', 'x-should-retry': 'true' }],
    [250.4, { 'retry-after': '1', 'retry-after-ms': '251', 'x-should-retry': 'true' }],
    [1000, { 'retry-after': '1', 'x-should-retry': 'true' }],
    [1001, { 'retry-after': '2', 'x-should-retry': 'true' }],
    [60_000, { 'retry-after': '60', 'x-should-retry': 'true' }],
    [60_001, { 'retry-after': '61', 'x-should-retry': 'false' }],
    [1_827_000, { 'retry-after': '1827', 'x-should-retry': 'false' }],
    [Infinity, { 'x-should-retry': 'false' }],
    [NaN, { 'retry-after': '1', 'x-should-retry': 'true' }],
  ]
  for (const [retryAfterMs, expected] of cases) {
    assert.deepEqual(of({ code: 'rate-limited', retryAfterMs }), expected)
    assert.deepEqual(of({ code: 'overloaded', retryAfterMs }), expected)
  }
})

test('x-should-retry is false for what cannot pass, and left out for what may', () => {
  assert.deepEqual(of({ code: 'unauthenticated', key: null }), {
    'x-should-retry': 'false',
    'www-authenticate': 'Bearer',
  })
  assert.deepEqual(of({ code: 'unknown-url' }), { 'x-should-retry': 'false' })
  for (const code of ['internal', 'engine-failed', 'request-timeout'] as const) assert.deepEqual(of({ code }), {})
})
