import { deepEqual, equal, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { deadline, every, pause, systemClock } from './clock.ts'

test('a pause lasts as long as was asked for', async () => {
  const clock = createManualClock()
  let isOver = false
  const paused = pause(clock, 100).then(() => (isOver = true))
  clock.advance(99)
  await setImmediate()
  equal(isOver, false)
  clock.advance(1)
  await paused
})

test('work that does not end by its deadline is no longer waited for', async () => {
  const clock = createManualClock()
  equal(await deadline(clock, 100, Promise.resolve('done')), 'done')
  await rejects(deadline(clock, 100, Promise.reject(new Error('failed'))), /failed/)
  const late = rejects(deadline(clock, 100, new Promise(() => {})), /No answer within 100 ms/)
  clock.advance(100)
  await late
})

test('an answer that came in time counts where the process was held up itself until its deadline was over', async (t) => {
  const echo =
    "const { parentPort } = require('node:worker_threads'); parentPort.on('message', (text) => parentPort.postMessage(text))"
  const worker = new Worker(echo, { eval: true })
  t.after(() => worker.terminate())
  const ask = (question: string) => {
    const answer = once(worker, 'message')
    worker.postMessage(question)
    return answer
  }
  await ask('ready')
  // What follows a wait for immediates has its timers looked at before anything is read.
  await setImmediate()
  const answer = deadline(systemClock, 100, ask('in time'))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400)
  deepEqual(await answer, ['in time'])
})

test('periodic work runs after each pause until it is stopped', async () => {
  const clock = createManualClock()
  const atMs: number[] = []
  const stop = every(clock, 100, () => void atMs.push(clock.monotonicMs()))
  clock.advance(350)
  deepEqual(atMs, [100, 200, 300])
  await stop()
  clock.advance(1_000)
  equal(atMs.length, 3)
})

test('the first pause of periodic work may be another one', async () => {
  const clock = createManualClock()
  const atMs: number[] = []
  const stop = every(clock, 100, () => void atMs.push(clock.monotonicMs()), 10)
  clock.advance(350)
  deepEqual(atMs, [10, 110, 210, 310])
  await stop()
})

test('a run of periodic work ends before the next pause begins, and before a stop has stopped', async () => {
  const clock = createManualClock()
  const gate = Promise.withResolvers<void>()
  let runs = 0
  const stop = every(clock, 100, () => {
    runs += 1
    return gate.promise
  })
  clock.advance(1_000)
  equal(runs, 1)
  let isStopped = false
  const stopped = stop().then(() => (isStopped = true))
  await setImmediate()
  equal(isStopped, false)
  gate.resolve()
  await stopped
  clock.advance(1_000)
  equal(runs, 1)
})

test('periodic work that stops itself does not run again', () => {
  const clock = createManualClock()
  let runs = 0
  const stop = every(clock, 100, () => {
    runs += 1
    void stop()
  })
  clock.advance(1_000)
  equal(runs, 1)
})
