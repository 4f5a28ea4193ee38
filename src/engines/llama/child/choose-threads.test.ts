import { equal } from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { chooseThreads } from './choose-threads.ts'

const large = 98 * 1024 * 1024
const small = 11 * 1024 * 1024

test('one processor is left to the service, and one thread computes where there is only one', () => {
  for (const [processors, threads] of [
    [1, 1],
    [2, 1],
    [3, 2],
    [64, 63],
  ] as const) {
    equal(chooseThreads({ threads: null, weightsBytes: large, processors }), threads)
  }
})

test('very small weights are computed by a single thread', () => {
  equal(chooseThreads({ threads: null, weightsBytes: small, processors: 16 }), 1)
})

test('an operator may take every processor, and no more threads than there are', () => {
  equal(chooseThreads({ threads: 2, weightsBytes: small, processors: 2 }), 2)
  equal(chooseThreads({ threads: 1_024, weightsBytes: large, processors: 2 }), 2)
  equal(chooseThreads({ threads: 1_024, weightsBytes: large }), availableParallelism())
})
