import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LimitSnapshot } from '../core/limit.ts'
import { formatDuration } from './limit-headers.ts'
import { formats } from './formats.ts'

const limitHeaders = (snapshot: LimitSnapshot, atMs: number) =>
  Object.assign({}, ...formats.map((format) => format.limitHeaders(snapshot, atMs))) as Record<string, string>
const nowMs = Date.UTC(2026, 10, 21, 10, 15, 30, 200)

test('every limit is told to the clients of both formats', () => {
  const headers = limitHeaders(
    {
      requests: { limit: 600, remaining: 599, fullInMs: 100 },
      inputTokens: { limit: 2_000_000, remaining: 1_998_744, fullInMs: 38 },
      outputTokens: { limit: 400_000, remaining: 0, fullInMs: 60_000 },
    },
    nowMs,
  )
  assert.deepEqual(headers, {
    'x-ratelimit-limit-requests': '600',
    'x-ratelimit-remaining-requests': '599',
    'x-ratelimit-reset-requests': '100ms',
    'x-ratelimit-limit-tokens': '2400000',
    'x-ratelimit-remaining-tokens': '1998744',
    'x-ratelimit-reset-tokens': '1m0s',
    'x-ratelimit-limit-input-tokens': '2000000',
    'x-ratelimit-remaining-input-tokens': '1998744',
    'x-ratelimit-reset-input-tokens': '38ms',
    'x-ratelimit-limit-output-tokens': '400000',
    'x-ratelimit-remaining-output-tokens': '0',
    'x-ratelimit-reset-output-tokens': '1m0s',
    'anthropic-ratelimit-requests-limit': '600',
    'anthropic-ratelimit-requests-remaining': '599',
    'anthropic-ratelimit-requests-reset': '2026-11-21T10:15:31Z',
    'anthropic-ratelimit-tokens-limit': '2400000',
    'anthropic-ratelimit-tokens-remaining': '1998744',
    'anthropic-ratelimit-tokens-reset': '2026-11-21T10:16:31Z',
    'anthropic-ratelimit-input-tokens-limit': '2000000',
    'anthropic-ratelimit-input-tokens-remaining': '1998744',
    'anthropic-ratelimit-input-tokens-reset': '2026-11-21T10:15:31Z',
    'anthropic-ratelimit-output-tokens-limit': '400000',
    'anthropic-ratelimit-output-tokens-remaining': '0',
    'anthropic-ratelimit-output-tokens-reset': '2026-11-21T10:16:31Z',
  })
})

test('a limit that does not exist has no header, and all tokens have one only where both kinds are limited', () => {
  assert.deepEqual(limitHeaders({ requests: null, inputTokens: null, outputTokens: null }, nowMs), {})
  const one = limitHeaders(
    { requests: null, inputTokens: { limit: 9, remaining: 8, fullInMs: 0 }, outputTokens: null },
    nowMs,
  )
  assert.deepEqual(Object.keys(one), [
    'x-ratelimit-limit-input-tokens',
    'x-ratelimit-remaining-input-tokens',
    'x-ratelimit-reset-input-tokens',
    'anthropic-ratelimit-input-tokens-limit',
    'anthropic-ratelimit-input-tokens-remaining',
    'anthropic-ratelimit-input-tokens-reset',
  ])
})

test('durations are written as clients of chat completions read them', () => {
  const cases: readonly (readonly [number, string])[] = [
    [-1, '0ms'],
    [0.2, '1ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [1_200, '1.2s'],
    [59_999.5, '1m0s'],
    [360_000, '6m0s'],
    [3_723_000, '1h2m3s'],
  ]
  for (const [ms, text] of cases) assert.equal(formatDuration(ms), text)
})
