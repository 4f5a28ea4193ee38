import assert from 'node:assert/strict'
import { test } from 'node:test'
import { around } from './around.ts'

function createFollowed(items: readonly number[], failure?: Error) {
  const heard: unknown[] = []
  async function* generate() {
    try {
      yield* items
      if (failure !== undefined) throw failure
    } finally {
      heard.push('closed')
    }
  }
  const stream = around({
    begin() {
      heard.push('begin')
      return generate()
    },
    end: (error) => heard.push(error ?? 'end'),
  })
  return { stream, heard }
}

test('nothing happens before the first item is asked for, and the end is told once', async () => {
  const { stream, heard } = createFollowed([1, 2])
  assert.deepEqual(heard, [])
  assert.deepEqual(await Array.fromAsync(stream), [1, 2])
  assert.deepEqual(await stream.next(), { done: true, value: undefined })
  await stream.return(undefined)
  assert.deepEqual(heard, ['begin', 'closed', 'end'])
})

test('a failure is told and thrown', async () => {
  const failure = new Error('broken')
  const { stream, heard } = createFollowed([1], failure)
  await assert.rejects(Array.fromAsync(stream), failure)
  assert.deepEqual(await stream.next(), { done: true, value: undefined })
  assert.deepEqual(heard, ['begin', 'closed', failure])
})

test('a stream that is left is closed before its end is told', async () => {
  const { stream, heard } = createFollowed([1, 2])
  for await (const item of stream) if (item === 1) break
  assert.deepEqual(heard, ['begin', 'closed', 'end'])
})

test('a stream that was never read has no end', async () => {
  const { stream, heard } = createFollowed([1])
  await stream.return(undefined)
  assert.deepEqual(await stream.next(), { done: true, value: undefined })
  assert.deepEqual(heard, [])
})

test('what the beginning throws is thrown once', async () => {
  const stream = around<number>({
    begin() {
      throw new Error('refused')
    },
    end: () => assert.fail('It had not begun.'),
  })
  await assert.rejects(stream.next(), /refused/)
  assert.deepEqual(await stream.next(), { done: true, value: undefined })
})
