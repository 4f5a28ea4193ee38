import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMinHeap } from './least-lengths.ts'

test('the heap gives the lowest rank first, whatever was put in and taken out before', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 20 }))), (steps) => {
      const heap = createMinHeap<number>()
      let ranks: number[] = []
      for (const rank of [...steps, ...steps.map(() => null)]) {
        if (rank === null) {
          assert.equal(heap.pop()?.rank, ranks[0])
          ranks = ranks.slice(1)
        } else {
          heap.push(rank, rank)
          ranks = [...ranks, rank].toSorted((left, right) => left - right)
        }
      }
    }),
  )
})
