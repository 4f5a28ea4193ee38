import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock } from '../../../test/harness/manual-clock.ts'
import { ReadyGate, type ReadyState } from './ready-gate.ts'
import { watchLoading } from './watch-child.ts'

const never = new AbortController().signal

function openGate(readyInMs: number | null, from: ReadyState = 'loading') {
  const clock = createManualClock()
  const told = { state: from, readyInMs }
  const gate = new ReadyGate({
    clock,
    waitMsMax: 300_000,
    state: () => told.state,
    readyInMs: () => told.readyInMs,
  })
  return { clock, gate, told }
}

const retryAfter = (retryAfterMs: number) => ({ reason: { code: 'overloaded', retryAfterMs } })

test('a request waits for loading that ends within its patience', async () => {
  const { gate, told } = openGate(200_000)
  const passed = gate.pass(never)
  told.state = 'ready'
  gate.wake()
  await passed
})

test('a request that loading would keep for too long is told at once how long', async () => {
  const { gate } = openGate(420_000)
  await rejects(gate.pass(never), retryAfter(420_000))
})

test('a waiting request is told how long when loading turns out slower than it began', async () => {
  const { clock, gate, told } = openGate(null)
  const refused = rejects(gate.pass(never), retryAfter(900_000))
  told.readyInMs = 900_000
  clock.advance(5_000)
  await refused
})

test('a request for an engine that is down is told when the next try begins, never less than a second', async () => {
  await rejects(openGate(30_000, 'down').gate.pass(never), retryAfter(30_000))
  await rejects(openGate(10, 'down').gate.pass(never), retryAfter(1_000))
})

test('the time that loading takes is estimated by what it took so far', async () => {
  const clock = createManualClock()
  const loading = watchLoading(clock, 60_000, () => {})
  deepEqual(loading.outlook(), { share: 0, readyInMs: null })
  clock.advance(10_000)
  loading.advanced(0.25)
  deepEqual(loading.outlook(), { share: 0.25, readyInMs: 40_000 })
  clock.advance(30_000)
  loading.advanced(1)
  equal(loading.outlook().readyInMs, 10_000)
  // Everything is read, and the warm-up is under way.
  loading.advanced(2)
  equal(loading.outlook().share, 1)
  loading.stop()
})
