import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { shareCache } from './share-cache.ts'

const engine = (llama: string, isHeld = true) => ({ llama, isHeld })

test('one engine has all the room, and three have it together', () => {
  deepEqual(shareCache([engine('a')], 900), [{ llama: 'a', bytes: 900 }])
  const shares = shareCache([engine('a'), engine('b'), engine('c')], 1_000)
  deepEqual(
    shares.map(({ bytes }) => bytes),
    [333, 333, 333],
  )
})

test('one that only finishes its answers gives its room up before the others grow', () => {
  deepEqual(shareCache([engine('new'), engine('old', false), engine('other')], 1_000), [
    { llama: 'old', bytes: 0 },
    { llama: 'new', bytes: 500 },
    { llama: 'other', bytes: 500 },
  ])
})

test('where nobody is held nothing is granted', () => {
  deepEqual(shareCache([engine('old', false)], 1_000), [{ llama: 'old', bytes: 0 }])
  deepEqual(shareCache([], 1_000), [])
})
