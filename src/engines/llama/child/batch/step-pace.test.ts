import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { Stretch } from './position-weights.ts'
import { StepPace } from './step-pace.ts'

/** Tokens that all look back to as many others. */
const stretch = (tokens: number): readonly Stretch[] => [{ tokens, position: 0 }]

/** The tokens and the time of each of some full steps of weights of one speed. */
function steps(pace: StepPace, count: number, msOf: (tokens: number) => number) {
  return Array.from({ length: count }, () => {
    const tokens = pace.unitsMax
    const ms = msOf(tokens)
    pace.measure(stretch(tokens), 0, ms)
    return { tokens, ms }
  })
}

test('a prompt step stays within 250 ms from the third step on, however slow the weights are', () => {
  for (const tokensPerSecond of [5, 25, 100, 800, 5_000]) {
    const taken = steps(new StepPace(512), 40, (tokens) => (tokens * 1_000) / tokensPerSecond)
    for (const { tokens, ms } of taken.slice(2)) ok(ms <= 250, `${tokens} tokens at ${tokensPerSecond}/s took ${ms} ms`)
  }
})

test('fast weights get the largest step after a few', () => {
  const taken = steps(new StepPace(512), 8, (tokens) => tokens / 20)
  ok(
    taken.some(({ tokens }) => tokens === 512),
    JSON.stringify(taken),
  )
})

test('a step that was held up makes the next ones smaller, and the pace comes back', () => {
  const pace = new StepPace(512)
  steps(pace, 20, (tokens) => tokens / 5)
  const before = pace.unitsMax
  steps(pace, 4, () => 5_000)
  ok(pace.unitsMax < before, String(pace.unitsMax))
  steps(pace, 60, (tokens) => tokens / 5)
  ok(pace.unitsMax > 300, String(pace.unitsMax))
})

test('a short rest of a prompt makes no step larger', () => {
  const pace = new StepPace(512)
  const taken = steps(pace, 20, (tokens) => tokens)
  pace.measure(stretch(1), 0, 0.1)
  ok(pace.unitsMax <= Math.max(...taken.map(({ tokens }) => tokens)) * 1.1)
})

test('where every step takes long whatever its size, at least a third of it goes into tokens', () => {
  for (const baseMs of [120, 240, 1_000]) {
    const pace = new StepPace(512)
    for (let step = 0; step < 50; step++) pace.measure([], 1, baseMs)
    const taken = steps(pace, 200, (tokens) => baseMs + tokens * 2)
    const late = taken.slice(100)
    const share = late.reduce((sum, { tokens }) => sum + tokens * 2, 0) / late.reduce((sum, { ms }) => sum + ms, 0)
    ok(share > 1 / 3, `${baseMs} ms: ${share}`)
  }
})

test('where somebody may come at any moment a step takes four times its base, or 8 ms', () => {
  for (const [baseMs, tokenMs] of [
    [1, 0.05],
    [20, 1],
  ] as const) {
    const pace = new StepPace(512)
    steps(pace, 60, (tokens) => baseMs + tokens * tokenMs)
    const ms = baseMs + pace.unitsMaxShort * tokenMs
    ok(ms <= Math.max(8, baseMs * 4) * 1.1 && ms >= 5, `${ms} ms with a base of ${baseMs}`)
  }
})

test('neighbours that hold steps up make no short step longer than five steps of one answer', () => {
  const pace = new StepPace(512)
  for (let step = 0; step < 20; step++) pace.measure([], 1, 6)
  // Held up by as much again or not at all, whatever the size: the fitted line alone takes that for a base of 30 ms.
  for (let step = 0; step < 200; step++) {
    const tokens = pace.unitsMaxShort
    pace.measure(stretch(tokens), 0, 1 + tokens + (step % 3 === 0 ? 90 : 0))
  }
  ok(1 + pace.unitsMaxShort <= 5 * 6, `${pace.unitsMaxShort} tokens`)
  ok(pace.promptBaseMs <= 6, `${pace.promptBaseMs} ms`)
})

test('without an aim every step may compute as much as any, however long it takes', () => {
  const pace = new StepPace(512, { stepMsAim: Infinity })
  const taken = steps(pace, 20, () => 5_000)
  deepEqual(new Set(taken.map(({ tokens }) => tokens)), new Set([512]))
  deepEqual(pace.unitsMaxShort, 512)
})

test('short steps that go on for long do not become ever shorter', () => {
  const pace = new StepPace(512)
  steps(pace, 20, (tokens) => 20 + tokens * 2)
  for (let step = 0; step < 1_000; step++) {
    const tokens = pace.unitsMaxShort
    pace.measure(stretch(tokens), 0, 20 + tokens * 2)
  }
  ok(pace.unitsMaxShort >= 20, String(pace.unitsMaxShort))
})
