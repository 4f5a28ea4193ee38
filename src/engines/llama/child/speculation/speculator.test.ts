import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../../../test/campaigns/random.ts'
import { Speculator } from './speculator.ts'

/**
 * Answers with the tokens of `answer` behind a prompt, as a decode loop does.
 * Returns the length of each step's draft and how much of it was right.
 */
function play(prompt: readonly number[], answer: readonly number[], { draftTokensMax = 15, room = 100 } = {}) {
  const speculator = new Speculator(draftTokensMax)
  const steps: [drafted: number, accepted: number][] = []
  let at = 0
  while (at < answer.length - 1) {
    const held = Uint32Array.of(...prompt, ...answer.slice(0, at))
    const draft = speculator.draft(held, answer[at] ?? 0, at + 1, room)
    let accepted = 0
    for (;;) {
      at += 1
      const token = answer[at]
      if (token === undefined) break
      speculator.observe(token)
      if (token !== draft[accepted]) break
      accepted += 1
    }
    if (draft.length > 0) speculator.settle(draft.length, accepted)
    steps.push([draft.length, accepted])
  }
  return steps
}

const count = (length: number, from = 1) => Array.from({ length }, (_, index) => from + index)

test('a draft begins short and grows with the guesses that were right', () => {
  const steps = play(count(200), count(100))
  const drafted = steps.map(([tokens]) => tokens)
  deepEqual(drafted.slice(0, 14), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 7, 15, 15])
  ok(drafted.reduce((sum, tokens) => sum + tokens, 0) > 60)
  deepEqual(
    steps.map(([, accepted]) => accepted),
    drafted.map((tokens, step) => (step === drafted.length - 1 ? (steps[step]?.[1] ?? 0) : tokens)),
  )
})

test('a text that repeats nothing is never drafted, nor one that is over soon', () => {
  deepEqual([...new Set(play(count(200), count(300, 1_000)).map(([drafted]) => drafted))], [0])
  deepEqual([...new Set(play(count(200), count(8)).map(([drafted]) => drafted))], [0])
})

test('a wrong draft is followed by a shorter one, and after some of them by none', () => {
  const answer = count(160).map((token) => (token % 40 === 0 ? 900 + token : token))
  const steps = play(count(200), answer)
  const afterFault = steps.findIndex(([drafted, accepted]) => drafted > accepted) + 1
  const next = steps.slice(afterFault).find(([drafted]) => drafted > 0)
  deepEqual(next?.[0], 3)
  // Every guess leads to what followed once and never does again.
  const misleading = count(60).flatMap((token) => [1, 2, 100 + token])
  const drafts = play([...count(40), ...count(20)], [...count(30), ...misleading]).slice(-100)
  deepEqual([...new Set(drafts.map(([drafted]) => drafted))], [0])
})

test('where every guess is as good as a coin, hardly anything is drafted', () => {
  const random = createRandom(3)
  const answer = Array.from({ length: 2_000 }, () => random.integer(1, 2))
  const drafted = play([], answer).reduce((sum, [tokens]) => sum + tokens, 0)
  ok(drafted < 300, `${drafted} tokens drafted`)
})

test('no draft is longer than is wanted or than there is room for', () => {
  const longest = (limits: { draftTokensMax?: number; room?: number }) =>
    Math.max(...play(count(400), count(300), limits).map(([drafted]) => drafted))
  deepEqual([longest({}), longest({ draftTokensMax: 40 }), longest({ draftTokensMax: 3 })], [15, 31, 3])
  deepEqual([longest({ room: 14 }), longest({ room: 2 }), longest({ room: 0 })], [7, 0, 0])
})
