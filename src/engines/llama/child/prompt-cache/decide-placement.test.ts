import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { slotToGiveUp } from './decide-placement.ts'
import type { Holding } from './find-candidates.ts'
import { TokenList } from './token-list.ts'

function holding(lastUsedMs: number, length = 10_000, namespace = 'someone'): Holding {
  const tokens = new TokenList()
  tokens.push(new Uint32Array(length))
  return {
    namespace,
    tokens,
    checkpoints: [],
    pins: [],
    due: [],
    lastUsedMs,
    isUnsaved: false,
    isReadAhead: false,
    prompt: { tokens: new Uint32Array(), conversationLength: 0 },
  }
}

test('of empty slots the one beside those at work is taken, and a gap between them first', () => {
  const empty = [null, null, null, null, null, null]
  equal(slotToGiveUp([holding(1), ...empty], new Set([1, 2, 3, 4, 5, 6]), undefined), 1)
  const busy = [null, null, holding(1), null, holding(1), null]
  equal(slotToGiveUp(busy, new Set([0, 1, 3, 5]), undefined), 3)
})

test('of slots that hold something the one beside those at work is taken, but none with much that was used of late', () => {
  // Slot 3 is at work. Of its neighbours 2 was used last of all and 4 is among those used longest ago.
  const slots = [holding(10), holding(20), holding(40), holding(50), holding(15), holding(30)]
  equal(slotToGiveUp(slots, new Set([0, 1, 2, 4, 5]), undefined), 4)
  equal(slotToGiveUp(slots, new Set([0, 1, 2, 5]), undefined), 0)
})

test('answers that begin together come to be side by side where little would be lost', () => {
  const slots = [5, 3, 8, 1, 9, 2, 7, 4, 6].map((usedMs) => holding(usedMs, 200))
  const free = new Set(slots.keys())
  for (let count = 0; count < 8; count++) free.delete(slotToGiveUp(slots, free, undefined))
  ok(free.has(0) || free.has(8), `slot ${[...free].join()} is left`)
})

test('an empty slot is taken before one that holds something, wherever it is', () => {
  equal(slotToGiveUp([holding(1), holding(1), holding(1), null], new Set([1, 2, 3]), undefined), 3)
})

test('an organization that holds most of the slots gives one up before another that holds few, however long ago that was', () => {
  const few = holding(1, 40, 'few')
  const slots = [few, holding(50), holding(60), holding(40), holding(70)]
  equal(slotToGiveUp(slots, new Set([0, 4]), undefined), 4)
  equal(slotToGiveUp([few, holding(50), holding(60, 10_000, 'other')], new Set([0, 1]), undefined), 0)
})
