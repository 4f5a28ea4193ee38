import { equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { getHeapSpaceStatistics } from 'node:v8'
import { Worker } from 'node:worker_threads'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { MemoryReturn, openCollector, shrinkAfterLoading } from './memory-return.ts'

const mebibyte = 1_024 * 1_024

function open() {
  const clock = createManualClock()
  const state = { isIdle: true, collected: 0 }
  const memory = new MemoryReturn({ clock, isIdle: () => state.isIdle, collect: () => (state.collected += 1) })
  return { clock, state, memory }
}

test('garbage is collected once after large bodies, and not for small ones', () => {
  const { clock, state, memory } = open()
  for (let count = 0; count < 10_000; count += 1) memory.note(20_000)
  clock.advance(60_000)
  equal(state.collected, 0)
  for (let count = 0; count < 10; count += 1) memory.note(20 * mebibyte)
  clock.advance(60_000)
  equal(state.collected, 1)
})

test('garbage is not collected before nobody would notice', () => {
  const { clock, state, memory } = open()
  state.isIdle = false
  memory.note(40 * mebibyte)
  clock.advance(60_000)
  equal(state.collected, 0)
  state.isIdle = true
  clock.advance(5_000)
  equal(state.collected, 1)
})

test('what was garbage is gone after a collection', () => {
  const collect = openCollector()
  let garbage: unknown = Array.from({ length: 200_000 }, (_, index) => ({ index }))
  collect()
  const before = process.memoryUsage().heapUsed
  ok(garbage !== null)
  garbage = null
  collect()
  ok(process.memoryUsage().heapUsed < before - mebibyte)
})

test('the young generation has its first size again after what has made it grow', () => {
  const youngBytes = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0
  const kept = Array.from({ length: 400_000 }, (_, index) => ({ index }))
  const before = youngBytes()
  ok(before > 4 * mebibyte, `${before} bytes`)
  shrinkAfterLoading()
  ok(youngBytes() < 2 * mebibyte, `${youngBytes()} bytes`)
  equal(kept.length, 400_000)
})

test('threads that open their collectors at one moment each get one', async () => {
  const module = JSON.stringify(new URL('./memory-return.ts', import.meta.url).href)
  const program = `import(${module}).then(({ openCollector }) => {
    for (let count = 0; count < 300; count += 1) openCollector()
  })`
  const threads = Array.from({ length: 3 }, () => new Worker(program, { eval: true }))
  // Waiting for the end of a thread fails with what the thread has thrown.
  await Promise.all(threads.map((thread) => once(thread, 'exit')))
})
