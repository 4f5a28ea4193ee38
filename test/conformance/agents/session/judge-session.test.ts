import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { judgeSession, protocolWarnings, type Evidence } from './judge-session.ts'
import { turnCount } from './session-plan.ts'
import type { Call } from './wire-record.ts'

const well: Call = { request: 'POST /v1/messages', status: 200, isLeft: false, fault: null }
const refused: Call = { ...well, status: 400 }
const left: Call = { ...well, isLeft: true }

const good: Evidence = {
  turns: turnCount,
  processes: 2,
  faults: [],
  calls: [well, well, refused, left, left],
  counts: { errands: 4, summaries: 2 },
  warnings: [],
  debugLines: 100,
  outcomes: ['finished', 'finished', 'aborted', 'aborted'],
  seconds: 1,
}

test('a session that went as planned has no faults', () => {
  const { faults, figures } = judgeSession(good)
  deepEqual(faults, [])
  deepEqual([figures['turns'], figures['answered 200'], figures['left by the client']], [turnCount, 2, 2])
})

test('whatever is not as planned is a fault', () => {
  const changes: readonly Partial<Evidence>[] = [
    { turns: turnCount - 1 },
    { calls: [...good.calls, { ...well, status: 500 }] },
    { calls: [...good.calls, { ...well, fault: 'the stream has no end' }] },
    { calls: [...good.calls, refused] },
    { calls: good.calls.slice(0, -1) },
    { counts: { errands: 0, summaries: 2 } },
    { counts: { errands: 4, summaries: 1 } },
    { outcomes: ['finished'] },
    { warnings: ['[ERROR] a stream could not be read'] },
    { faults: ['a turn had no answer'] },
  ]
  for (const change of changes) ok(judgeSession({ ...good, ...change }).faults.length > 0, JSON.stringify(change))
})

test('a warning in the debug log counts unless it is known to be about something else', () => {
  const lines = [
    '2026-11-22T00:00:00Z [DEBUG] Stream started',
    '2026-11-22T00:00:00Z [ERROR] Failed to save config with lock: Error: ENOENT',
    '2026-11-22T00:00:00Z [ERROR] API error: 400 prompt is too long: 1200000 tokens > 999999 maximum',
  ]
  deepEqual(protocolWarnings(lines), [])
  const bad = '2026-11-22T00:00:00Z [WARN] Error streaming, falling back to non-streaming mode'
  equal(protocolWarnings([...lines, bad])[0], bad)
})
