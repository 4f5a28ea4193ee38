import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { chooseThreads } from './choose-threads.ts'
import { usableProcessors } from './usable-processors.ts'

const large = 98 * 1024 * 1024
const small = 11 * 1024 * 1024

test('one processor is left to the service at first, and one thread computes where there is only one', () => {
  for (const [processors, first, most] of [
    [1, 1, 1],
    [2, 1, 2],
    [3, 2, 3],
    [64, 63, 64],
  ] as const) {
    deepEqual(chooseThreads({ threads: null, weightsBytes: large, processors }), { first, most })
  }
})

test('two threads of one core do not compute at the same time', () => {
  deepEqual(chooseThreads({ threads: null, weightsBytes: large, processors: 64, cores: 32 }), { first: 32, most: 32 })
  deepEqual(chooseThreads({ threads: null, weightsBytes: large, processors: 8, cores: 32 }), { first: 7, most: 8 })
})

test('very small weights are computed by a single thread', () => {
  deepEqual(chooseThreads({ threads: null, weightsBytes: small, processors: 16 }), { first: 1, most: 1 })
})

test('an operator may take every processor, and no more threads than there are', () => {
  const all = usableProcessors()
  deepEqual(chooseThreads({ threads: 2, weightsBytes: small, processors: 2 }), { first: 2, most: 2 })
  deepEqual(chooseThreads({ threads: 1_024, weightsBytes: large, processors: 2 }), { first: 2, most: 2 })
  deepEqual(chooseThreads({ threads: 1_024, weightsBytes: large }), { first: all, most: all })
})
