import { ok } from 'node:assert/strict'
import { test } from 'node:test'
import { PromptPace } from './prompt-pace.ts'

/** The tokens and the time of each of some full steps of weights that compute so much. */
function steps(pace: PromptPace, count: number, msOf: (tokens: number) => number) {
  return Array.from({ length: count }, () => {
    const tokens = pace.tokensMax
    const ms = msOf(tokens)
    pace.measure(tokens, ms)
    return { tokens, ms }
  })
}

test('a prompt step stays within 250 ms from the third step on, however slow the weights are', () => {
  for (const tokensPerSecond of [5, 25, 100, 800, 5_000]) {
    const taken = steps(new PromptPace(512), 20, (tokens) => (tokens * 1_000) / tokensPerSecond)
    for (const { tokens, ms } of taken.slice(2)) ok(ms <= 250, `${tokens} tokens at ${tokensPerSecond}/s took ${ms} ms`)
  }
})

test('fast weights get the largest step after a few', () => {
  const taken = steps(new PromptPace(512), 6, (tokens) => tokens / 20)
  ok(taken.at(-1)?.tokens === 512, JSON.stringify(taken))
})

test('a step that was held up makes the next one smaller, and the pace comes back', () => {
  const pace = new PromptPace(512)
  steps(pace, 10, (tokens) => tokens / 5)
  pace.measure(pace.tokensMax, 5_000)
  ok(pace.tokensMax < 64, String(pace.tokensMax))
  steps(pace, 6, (tokens) => tokens / 5)
  ok(pace.tokensMax > 400, String(pace.tokensMax))
})

test('a short rest of a prompt says nothing of a long step', () => {
  const pace = new PromptPace(512)
  steps(pace, 10, (tokens) => tokens)
  const before = pace.tokensMax
  pace.measure(1, 0.1)
  ok(pace.tokensMax === before)
})

test('where answers alone take a second, prompts are computed in more than one token a step', () => {
  const pace = new PromptPace(512)
  for (let step = 0; step < 50; step++) pace.measure(0, 1_000)
  const taken = steps(pace, 10, (tokens) => 1_000 + tokens * 20)
  ok((taken.at(-1)?.tokens ?? 0) > 1, JSON.stringify(taken.at(-1)))
})
