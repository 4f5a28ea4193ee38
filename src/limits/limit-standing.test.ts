import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestLimiter, limitOf, principal } from '../../test/harness/databases/limiter.ts'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { readStanding } from './limit-standing.ts'
import type { Limit } from './settings/setting.ts'

function open(...limits: Partial<Limit>[]) {
  const clock = createManualClock()
  const entries = limits.map((limit, index) => limitOf({ id: `limit_${index}`, ...limit }))
  return createTestLimiter({ clock, limits: entries })
}

test('the limit of a kind with the least left binds, and one that is only shown never does', async () => {
  const { book, limiter } = open(
    { inputTokensPerMinute: 1_000, requestsPerMinute: 5, isRequestsEnforced: false },
    { inputTokensPerMinute: 400, model: 'clarke-1.0' },
    { inputTokensPerMinute: 10, model: 'hal-1.0' },
  )
  const admission = await limiter.admit({ principal, model: 'clarke-1.0', requestId: 'req_1' })
  await admission.reserve({ inputTokens: 300, outputTokensMax: 0, isOutputChosen: true, worstCaseMicros: () => 0 })
  const standing = readStanding(book, principal, 'clarke-1.0').map(
    ({ kind, limit, remaining, isEnforced, isBinding }) => [kind, limit, remaining, isEnforced, isBinding],
  )
  assert.deepEqual(
    standing.filter(([kind]) => kind === 'input-tokens'),
    [
      ['input-tokens', 400, 100, true, true],
      ['input-tokens', 1_000, 700, true, false],
    ],
  )
  assert.deepEqual(
    standing.filter(([kind]) => kind === 'requests'),
    [['requests', 5, 4, false, false]],
  )
})

test('a key that no limit applies to has none to show', () => {
  assert.deepEqual(readStanding(open().book, principal, null), [])
})
