import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { shareOut, shareOutInGroups } from './share-out.ts'

test('who needs little gets it, and the others share the rest', () => {
  deepEqual(shareOut([1_000, 30, 1_000], 230), [100, 30, 100])
  deepEqual(shareOut([5, 5], 100), [5, 5])
  deepEqual(shareOut([], 10), [])
})

test('many prompts of one key together get no more than one prompt of another key', () => {
  const claims = [...Array.from({ length: 7 }, () => ({ group: 'many', need: 1_000 })), { group: 'one', need: 1_000 }]
  deepEqual(shareOutInGroups(claims, 140), [10, 10, 10, 10, 10, 10, 10, 70])
})

test('an amount that is too small for all of a group goes to some of it', () => {
  const shares = shareOutInGroups(
    [
      { group: 'a', need: 9 },
      { group: 'a', need: 9 },
      { group: 'b', need: 9 },
    ],
    2,
  )
  deepEqual(
    shares.reduce((sum, share) => sum + share),
    2,
  )
})
