import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lackOfMemory, mayUseDevice, readMemory } from './memory-room.ts'

const gigabyte = 1e9

test('new weights are refused where memory does not hold them beside the loaded ones', () => {
  const memory = { totalBytes: 32 * gigabyte, availableBytes: 30 * gigabyte }
  assert.equal(lackOfMemory(10 * gigabyte, 12 * gigabyte, memory), null)
  assert.match(
    lackOfMemory(20 * gigabyte, 12 * gigabyte, memory) ?? '',
    /take 20\.0 GB of memory, and beside the 12\.0 GB that are loaded there is room for 16\.8 GB\. Stop the service/,
  )
  assert.ok(lackOfMemory(6 * gigabyte, 0, { ...memory, availableBytes: 5 * gigabyte }))
})

test('the memory of this machine is read, and an engine told to use no device uses none', () => {
  const { totalBytes, availableBytes } = readMemory()
  assert.ok(totalBytes >= availableBytes && availableBytes > 0)
  assert.equal(mayUseDevice('off'), false)
  assert.equal(mayUseDevice('cuda'), true)
})
