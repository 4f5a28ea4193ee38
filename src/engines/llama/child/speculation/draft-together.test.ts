import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { draftTogether } from './draft-together.ts'

const lengthsOf = (wanted: readonly number[], batchTokens = 512, room = 100) => {
  const answers = wanted.map((length) => ({
    room,
    draft: (most: number) => new Uint32Array(Math.min(length, most)),
  }))
  return draftTogether(answers, batchTokens).map((draft) => draft.length)
}

test('one answer alone has its whole draft', () => {
  deepEqual(lengthsOf([15]), [15])
  deepEqual(lengthsOf([0]), [0])
})

test('several have drafts of one length, and none where one of them has none', () => {
  deepEqual(lengthsOf([15, 7]), [7, 7])
  deepEqual(lengthsOf([15, 7, 3]), [3, 3, 3])
  deepEqual(lengthsOf([15, 0, 7]), [0, 0, 0])
})

test('drafts take the room that the answers themselves leave, and never more', () => {
  deepEqual(lengthsOf([15, 15, 15, 15]), [7, 7, 7, 7])
  deepEqual(
    lengthsOf(Array.from({ length: 8 }, () => 15)),
    Array.from({ length: 8 }, () => 3),
  )
  deepEqual(
    lengthsOf(Array.from({ length: 9 }, () => 15)),
    Array.from({ length: 9 }, () => 0),
  )
  deepEqual(lengthsOf([63], 32), [31])
  deepEqual(lengthsOf([15], 512, 5), [3])
  deepEqual(lengthsOf([15], 512, -1), [0])
})

test('all are asked, so that those without a draft learn from what comes', () => {
  const asked: number[] = []
  const answers = [0, 1, 2].map((id) => ({
    room: 10,
    draft() {
      asked.push(id)
      return new Uint32Array()
    },
  }))
  draftTogether(answers, 512)
  deepEqual(asked, [0, 1, 2])
})
