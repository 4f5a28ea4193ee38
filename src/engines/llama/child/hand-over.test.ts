import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import type { GenerationEvent } from '../../../core/generation.ts'
import type { TaskId } from '../ipc.ts'
import { HandOver } from './hand-over.ts'

const begin: GenerationEvent = { type: 'block-start', block: { kind: 'text' } }
const text: GenerationEvent = { type: 'delta', text: 'word ', tokens: 1 }

describe('handing on what answers are made of', () => {
  let nowMs: number
  let sent: TaskId[][]
  let handOver: HandOver
  beforeEach(() => {
    nowMs = 1_000
    sent = []
    handOver = new HandOver(
      (batch) => sent.push(batch.map(([id]) => id)),
      () => nowMs,
    )
    handOver.flush([])
  })

  const made = (id: TaskId, events: readonly GenerationEvent[] = [text], isAborted = false) => ({
    id,
    isAborted,
    events: [...events],
    eventsInFlight: 0,
  })

  it('hands on what steps of 19 ms made after the second of them', () => {
    const task = made(1)
    nowMs += 19
    handOver.proceed([task])
    assert.deepEqual(sent, [])
    task.events.push(text)
    nowMs += 19
    handOver.proceed([task])
    assert.deepEqual(sent, [[1, 1]])
  })

  it('hands on what each step of 20 ms made', () => {
    for (let step = 1; step <= 3; step++) {
      nowMs += 20
      handOver.proceed([made(1)])
    }
    assert.deepEqual(sent, [[1], [1], [1]])
  })

  it('hands on the first text of an answer at once, and with it what others have', () => {
    handOver.proceed([made(1), made(2, [begin, text])])
    assert.deepEqual(sent, [[1, 2, 2]])
  })

  it('hands on the end of an answer at once, and with it what others have', () => {
    handOver.collect(made(2))
    handOver.proceed([made(1)])
    assert.deepEqual(sent, [[2, 1]])
  })

  it('hands on everything at once where nothing goes on', () => {
    handOver.flush([made(1)])
    assert.deepEqual(sent, [[1]])
  })

  it('hands on nothing more of an answer that was aborted', () => {
    handOver.flush([made(1, [text], true)])
    assert.deepEqual(sent, [])
  })

  it('counts events as under way from when they are handed on', () => {
    const task = made(1)
    handOver.proceed([task])
    assert.equal(task.eventsInFlight, 0)
    handOver.flush([task])
    assert.equal(task.eventsInFlight, 1)
  })
})
