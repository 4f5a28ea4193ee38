import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAsyncQueue } from './async-queue.ts'

test('hands items over in order, whether the consumer or the producer is first', async () => {
  const queue = createAsyncQueue<number>()
  const early = queue.next()
  for (const item of [1, 2, 3]) queue.push(item)
  assert.deepEqual([await early, await queue.next(), await queue.next()], [1, 2, 3])
})
