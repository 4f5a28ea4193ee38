import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../../../test/campaigns/random.ts'
import { TokenLookup } from './token-lookup.ts'

/** What is guessed behind a text when its tokens came one by one. */
function guessAfter(tokens: readonly number[], most: number): number[] {
  const lookup = new TokenLookup()
  const text = Uint32Array.from(tokens)
  for (let held = 0; held < text.length - 1; held++) lookup.guess(text.subarray(0, held), text[held] ?? 0, 1)
  return [...lookup.guess(text.subarray(0, -1), text.at(-1) ?? 0, most)]
}

test('what followed the last two tokens before is guessed to follow again', () => {
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
    // Of few words every pair soon came before; of many hardly any did.
    ok(words === 2_000 ? found < 50 : found > 3_000, `${found} guesses among ${words} words`)
  }
})

test('a long prompt is read once', () => {
  const text = Uint32Array.from({ length: 100_000 }, (_, at) => (at * 7_919) % 50_021)
  const lookup = new TokenLookup()
  lookup.guess(text, 1, 1)
  const startMs = performance.now()
  for (let step = 0; step < 10_000; step++) lookup.guess(text, step, 1)
  ok(performance.now() - startMs < 5_000)
  equal(lookup.guess(text, text[1] ?? 0, 1).length, 0)
})
