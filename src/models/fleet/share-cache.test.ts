import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { shareCache } from './engine-pool.ts'

const sharer = (engine: string, isHeld = true) => ({ engine, isHeld })

test('the prompt cache goes to one engine whole and to three in equal shares', () => {
  deepEqual(shareCache([sharer('a')], 900), [{ engine: 'a', bytes: 900 }])
  const shares = shareCache([sharer('a'), sharer('b'), sharer('c')], 1_000)
  deepEqual(
    shares.map(({ bytes }) => bytes),
    [333, 333, 333],
  )
})

test('an engine that only finishes its answers gives up its cache before the others grow', () => {
  deepEqual(shareCache([sharer('new'), sharer('old', false), sharer('other')], 1_000), [
    { engine: 'old', bytes: 0 },
    { engine: 'new', bytes: 500 },
    { engine: 'other', bytes: 500 },
  ])
})

test('no engine gets prompt cache while none is held', () => {
  deepEqual(shareCache([sharer('old', false)], 1_000), [{ engine: 'old', bytes: 0 }])
  deepEqual(shareCache([], 1_000), [])
})
