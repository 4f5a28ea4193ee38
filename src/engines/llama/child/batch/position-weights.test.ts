import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { PositionWeights } from './position-weights.ts'

/** Steps of two prompts in turn, one at its beginning and one far into it, where a position costs what `share` of a token does. */
function learn(share: number, far: number, tileTokens?: number): PositionWeights {
  const weights = new PositionWeights(tileTokens)
  for (let step = 0; step < 200; step++) {
    const tokens = 20 + (step % 7)
    const position = step % 2 === 0 ? step : far + step
    weights.add([{ tokens, position }], 2 + tokens * 0.05 * (1 + share * (position + tokens / 2)))
  }
  return weights
}

test('a token that looks back further is worth as many more as it takes longer', () => {
  for (const share of [0.000_1, 0.001, 0.01]) {
    const weights = learn(share, 5_000)
    const ratio = weights.unitsOf({ tokens: 1, position: 5_000 }) / weights.unitsOf({ tokens: 1, position: 0 })
    const expected = 1 + share * 5_000
    ok(Math.abs(ratio - expected) < expected * 0.1, `${share}: ${ratio} where ${expected} is so`)
  }
})

test('so many units are as many tokens as are worth them, at any position', () => {
  for (const weights of [new PositionWeights(), learn(0.001, 5_000)])
    for (const position of [0, 100, 30_000])
      for (const tokens of [1, 17, 512]) {
        const within = weights.tokensWithin(weights.unitsOf({ tokens, position }), position)
        ok(Math.abs(within - tokens) < 1e-6, `${tokens} at ${position} came back as ${within}`)
      }
})

test('where positions cost nothing, or hardly differ, all tokens are worth the same', () => {
  equal(learn(0, 5_000).unitsOf({ tokens: 3, position: 9_000 }).toFixed(6), '3.000000')
  const alone = new PositionWeights()
  for (let step = 0; step < 500; step++) alone.add([{ tokens: 8, position: 100_000 + step * 8 }], 10 + (step % 5))
  ok(alone.isUniform)
})

test('tokens that are compared in tiles are worth less than fewer that are not, and a step has room for more of them', () => {
  const weights = learn(0.001, 5_000, 64)
  const unitsOf = (tokens: number) => weights.unitsOf({ tokens, position: 5_000 })
  ok(unitsOf(64) < unitsOf(40), `${unitsOf(64)} units for 64, ${unitsOf(40)} for 40`)
  ok(Math.abs(weights.tokensWithin(unitsOf(64), 5_000) - 64) < 1e-6)
  ok(Math.abs(weights.tokensWithin(unitsOf(200), 5_000) - 200) < 1e-6)
  const few = unitsOf(17)
  ok(Math.abs(weights.tokensWithin(few, 5_000) - 17) < 1e-6)
})
