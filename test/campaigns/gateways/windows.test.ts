import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mostAtOnce, mostOverBucket, type Take } from './windows.ts'

const at = (fromMs: number, amount: number, toMs = fromMs): Take => ({ fromMs, toMs, amount })

test('a bucket that was full and is used as it fills is not exceeded', () => {
  const takes = [at(1_000, 600), ...Array.from({ length: 60 }, (_, second) => at(2_000 + 1_000 * second, 10))]
  assert.ok(mostOverBucket(takes, 600) <= 0)
})

test('an excess in any window is found, also in the midst of a quiet hour', () => {
  const takes = [at(0, 1), at(1_000_000, 600), at(1_001_000, 31), at(3_600_000, 1)]
  assert.ok(Math.abs(mostOverBucket(takes, 600) - 21) < 0.1)
})

test('requests that may have been taken outside of a window do not count in it', () => {
  const takes = [at(0, 600, 10), at(0, 600, 60_000)]
  assert.ok(mostOverBucket(takes, 600) <= 0)
  assert.ok(mostOverBucket([at(0, 600, 10), at(20, 600, 1_000)], 600) > 0)
})

test('requests at one time are counted, and one that begins as another ends is not', () => {
  assert.equal(mostAtOnce([at(0, 1, 10), at(10, 1, 20), at(10, 1, 30), at(15, 1, 16)]), 3)
})
