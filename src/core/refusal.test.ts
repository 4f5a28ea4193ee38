import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from './error.ts'
import { RequestEnded } from './request-ended.ts'
import { callerFaults, judgeRequest, serviceFaultOf } from './refusal.ts'

test('a service that is overloaded, breaks or has a bug is at fault', () => {
  equal(serviceFaultOf(new ApiError({ code: 'overloaded', retryAfterMs: 1 }, '')), 'overloaded')
  equal(serviceFaultOf(new ApiError({ code: 'engine-failed' }, '')), 'engine-failed')
  equal(serviceFaultOf(new Error('a bug')), 'internal')
})

test('who asks too much, for too much or wrongly is at fault', () => {
  equal(serviceFaultOf(new ApiError({ code: 'rate-limited', retryAfterMs: 1 }, '')), null)
  equal(serviceFaultOf(new ApiError({ code: 'context-exceeded', inputTokens: 2, windowTokens: 1 }, '')), null)
  deepEqual(
    ['overloaded', 'engine-failed', 'internal'].filter((code) => callerFaults.some((known) => known === code)),
    [],
  )
})

test('a request that its client or its owner has ended is nobody’s fault, one that the service cut off is its own', () => {
  const reason = { code: 'overloaded', retryAfterMs: 1 } as const
  equal(serviceFaultOf(new RequestEnded('client-left', reason, '')), null)
  equal(serviceFaultOf(new RequestEnded('service-stopping', reason, '')), 'overloaded')
})

test('a request is judged by its end, and by when its first token came', () => {
  const request = { outcome: 'finished', reason: 'end', firstTokenMs: 500, durationMs: 9_000 } as const
  equal(judgeRequest(request, null), 'good')
  equal(judgeRequest(request, 500), 'good')
  equal(judgeRequest(request, 499), 'slow')
  const left = { ...request, outcome: 'aborted', reason: 'client-left' } as const
  equal(judgeRequest(left, 500), 'good')
  equal(judgeRequest({ ...left, firstTokenMs: null, durationMs: 501 }, 500), 'slow')
  equal(judgeRequest({ ...left, firstTokenMs: null, durationMs: 500 }, 500), 'good')
  const failed = { ...request, outcome: 'failed' } as const
  for (const reason of ['engine-failed', 'internal', 'overloaded', 'service-stopping', null])
    equal(judgeRequest({ ...failed, reason }, 1), 'failed')
  for (const reason of callerFaults) equal(judgeRequest({ ...failed, reason }, 1), null)
})
