import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { shareOut, shareOutInGroups } from './share-out.ts'

test('who needs no more than an equal share gets all of it, and what is left goes to the others as they are listed', () => {
  deepEqual(shareOut([1_000, 30, 1_000], 230), [200, 30, 0])
  deepEqual(shareOut([150, 30, 1_000], 230), [150, 30, 50])
  deepEqual(shareOut([5, 5], 100), [5, 5])
  deepEqual(shareOut([], 10), [])
})

test('many prompts of one key together need no less than one long prompt of another key', () => {
  const many = Array.from({ length: 7 }, () => ({ group: 'many', need: 100 }))
  deepEqual(shareOutInGroups([...many, { group: 'one', need: 30 }], 140), [100, 10, 0, 0, 0, 0, 0, 30])
  deepEqual(shareOutInGroups([{ group: 'one', need: 1_000 }, ...many], 140), [140, 0, 0, 0, 0, 0, 0, 0])
})

test('an amount that is too small for all of a group goes to some of it', () => {
  const claims = ['a', 'a', 'b'].map((group) => ({ group, need: 9 }))
  deepEqual(shareOutInGroups(claims, 2), [2, 0, 0])
})
