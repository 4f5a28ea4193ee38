import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PushedStream } from './pushed-stream.ts'

test('items come in the order in which they were pushed, whether they were waited for or not', async () => {
  const stream = new PushedStream<number>()
  const first = stream.next()
  stream.push(1)
  stream.push(2)
  stream.push(3)
  stream.end()
  stream.push(4)
  assert.equal((await first).value, 1)
  assert.deepEqual(await Array.fromAsync(stream), [2, 3])
})

test('a failure is thrown after what was pushed before it, and once', async () => {
  const stream = new PushedStream<number>()
  stream.push(1)
  stream.end(new Error('broken'))
  stream.end(new Error('another'))
  assert.equal((await stream.next()).value, 1)
  await assert.rejects(stream.next(), /broken/)
  assert.equal((await stream.next()).done, true)
})

test('a reader that waits is told of the end', async () => {
  const [ended, failed] = [new PushedStream<number>(), new PushedStream<number>()]
  const waiting = [ended.next(), failed.next()] as const
  ended.end()
  failed.end(new Error('broken'))
  assert.equal((await waiting[0]).done, true)
  await assert.rejects(waiting[1], /broken/)
  assert.equal((await failed.next()).done, true)
})

test('a stream whose reader leaves says so once, and only before its end', async () => {
  let taken = 0
  let left = 0
  const stream = new PushedStream<number>({ onTaken: () => (taken += 1), onLeft: () => (left += 1) })
  stream.push(1)
  for await (const item of stream) if (item === 1) break
  await stream.return()
  assert.deepEqual([taken, left], [1, 1])
  const over = new PushedStream<number>({ onLeft: () => (left += 1) })
  over.end(new Error('never read'))
  await over.return()
  assert.equal((await over.next()).done, true)
  assert.equal(left, 1)
})
