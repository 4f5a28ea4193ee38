import { deepEqual, ok, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../../../test/campaigns/random.ts'
import { Speculator, draftTogether, TokenLookup } from './speculator.ts'
import { startCpuBudget } from '../../../../../test/harness/cpu-budget.ts'

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

const lengthsOf = (wanted: readonly number[], batchTokens = 512, room = 100) => {
  const answers = wanted.map((length) => ({
    room,
    draft: (most: number) => new Uint32Array(Math.min(length, most)),
  }))
  return draftTogether(answers, batchTokens).map((draft) => draft.length)
}

test('an answer that is alone has its whole draft', () => {
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

/** What is guessed behind a text when its tokens came one by one. */
function guessAfter(tokens: readonly number[], most: number): number[] {
  const lookup = new TokenLookup()
  const text = Uint32Array.from(tokens)
  for (let held = 0; held < text.length - 1; held++) lookup.guess(text.subarray(0, held), text[held] ?? 0, 1)
  return [...lookup.guess(text.subarray(0, -1), text.at(-1) ?? 0, most)]
}

test('tokens that followed the last two tokens before are guessed to follow again', () => {
  deepEqual(guessAfter([1, 2, 3, 4, 5, 1, 2], 3), [3, 4, 5])
  deepEqual(guessAfter([9, 9, 8, 1, 2, 3, 4, 5, 6, 7, 2, 3], 2), [4, 5])
})

test('a text in which nothing comes twice is not guessed', () => {
  deepEqual(guessAfter([1, 2, 3, 4, 5, 6, 7], 3), [])
  deepEqual(guessAfter([1, 2, 3, 4, 5, 6, 2], 3), [])
  deepEqual([guessAfter([1], 3), guessAfter([1, 1], 3)], [[], []])
})

test('three tokens tell more than two', () => {
  const [afterSix, afterSeven] = [new TokenLookup(), new TokenLookup()]
  const text = [6, 1, 2, 10, 11, 12, 7, 1, 2, 20, 21, 22]
  deepEqual([...afterSix.guess(Uint32Array.of(...text, 6, 1), 2, 2)], [10, 11])
  deepEqual([...afterSeven.guess(Uint32Array.of(...text, 7, 1), 2, 2)], [20, 21])
})

test('a text that goes round is guessed beyond its end', () => {
  deepEqual(guessAfter([4, 4, 4, 4], 5), [4, 4, 4, 4, 4])
  deepEqual(guessAfter([1, 2, 3, 1, 2, 3, 1], 8), [2, 3, 1, 2, 3, 1, 2, 3])
})

test('a copy goes on where it was, also where its words stand in other places later', () => {
  const original = [50, 1, 2, 3, 51, 1, 2, 4, 52, 1, 2, 5]
  const lookup = new TokenLookup()
  deepEqual([...lookup.guess(Uint32Array.of(...original, 99, 50, 1), 2, 3)], [3, 51, 1])
  // The pair of 3 and 51 leads to the first place; the pair that follows it stands in three.
  deepEqual([...lookup.guess(Uint32Array.of(...original, 99, 50, 1, 2, 3, 51, 1), 2, 3)], [4, 52, 1])
  // A word was changed: behind it the copy goes on.
  deepEqual([...lookup.guess(Uint32Array.of(...original, 99, 50, 1, 2, 3, 51, 1, 2, 77, 52, 1), 2, 1)], [5])
})

test('every guess is what followed the same two tokens somewhere, in texts that outgrow their tables too', () => {
  const random = createRandom(7)
  for (const words of [3, 40, 2_000]) {
    const text = Uint32Array.from({ length: 5_000 }, () => random.integer(0, words - 1))
    const lookup = new TokenLookup()
    const followers = new Map<string, Set<number>>()
    let found = 0
    for (let at = 1; at < text.length - 1; at++) {
      const [guessed] = lookup.guess(text.subarray(0, at), text[at] ?? 0, 1)
      const seen = followers.get(`${text[at - 1]} ${text[at]}`)
      if (guessed !== undefined) ok(seen?.has(guessed), `${words} words, place ${at}`)
      if (guessed !== undefined) found += 1
      const pair = `${text[at - 1]} ${text[at]}`
      followers.set(pair, (seen ?? new Set()).add(text[at + 1] ?? 0))
    }
    // In a text of few words every pair soon came before; in one of many hardly any did.
    ok(words === 2_000 ? found < 50 : found > 3_000, `${found} guesses among ${words} words`)
  }
})

test('a long prompt is read once', () => {
  const text = Uint32Array.from({ length: 100_000 }, (_, at) => (at * 7_919) % 50_021)
  const lookup = new TokenLookup()
  lookup.guess(text, 1, 1)
  const check = startCpuBudget(5_000)
  for (let step = 0; step < 10_000; step++) lookup.guess(text, step, 1)
  check()
  equal(lookup.guess(text, text[1] ?? 0, 1).length, 0)
})
