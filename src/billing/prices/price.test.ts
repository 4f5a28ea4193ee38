import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { zeroUsage, type Usage } from '../../core/generation.ts'
import { picosPerMicro } from '../../core/money.ts'
import { chargeFor, costOfUsage, worstCaseCost, type PriceInForce, type Rates } from './price.ts'

const tokens = fc.integer({ min: 0, max: 2_000_000 })
const rate = fc.integer({ min: 0, max: 1_000_000_000 })
const usages: fc.Arbitrary<Usage> = fc
  .record({
    inputUncached: tokens,
    inputCacheRead: tokens,
    short: tokens,
    inputCacheWriteLong: tokens,
    output: tokens,
  })
  .map(({ short, ...rest }) => ({
    ...rest,
    inputCacheWrite: short + rest.inputCacheWriteLong,
    outputThinking: Math.floor(rest.output / 2),
  }))
const rates: fc.Arbitrary<Rates> = fc.record({
  input: rate,
  cacheRead: rate,
  cacheWriteShort: rate,
  cacheWriteLong: rate,
  output: rate,
})

const listed: Rates = {
  input: 3_000_000,
  cacheRead: 300_000,
  cacheWriteShort: 3_750_000,
  cacheWriteLong: 6_000_000,
  output: 15_000_000,
}
const price: PriceInForce = {
  id: 'price_1',
  organizationId: null,
  model: 'hal-1.0',
  effectiveAtMs: 0,
  currency: 'USD',
  rates: listed,
  createdAtMs: 0,
  fault: null,
}

test('every kind of token has its own rate', () => {
  const costOf = (usage: Partial<Usage>) => costOfUsage(listed, { ...zeroUsage, ...usage }) / picosPerMicro
  assert.equal(costOf({ inputUncached: 1_000_000 }), 3_000_000n)
  assert.equal(costOf({ inputCacheRead: 1_000_000 }), 300_000n)
  assert.equal(costOf({ inputCacheWrite: 1_000_000 }), 3_750_000n)
  assert.equal(costOf({ inputCacheWrite: 1_000_000, inputCacheWriteLong: 1_000_000 }), 6_000_000n)
  assert.equal(costOf({ inputCacheWrite: 3_000_000, inputCacheWriteLong: 1_000_000 }), 13_500_000n)
  assert.equal(costOf({ output: 1_000_000, outputThinking: 900_000 }), 15_000_000n)
  assert.equal(costOf({}), 0n)
})

test('nothing of a tiny cost is lost: a million requests of a token cost what a million tokens do', () => {
  const cheap = { ...listed, input: 37_501, output: 1 }
  const [one, million] = [1, 1_000_000].map((tokens) => costOfUsage(cheap, { ...zeroUsage, inputUncached: tokens }))
  assert.equal((one ?? 0n) * 1_000_000n, million)
  assert.equal(million, 37_501n * picosPerMicro)
  assert.equal(costOfUsage(cheap, { ...zeroUsage, output: 1 }), 1n)
})

test('a failed request costs nothing, an aborted one its tokens, and one without a price has no charge', () => {
  const usage = { ...zeroUsage, output: 1_000_000 }
  assert.deepEqual(chargeFor(price, usage, 'finished'), { priceId: 'price_1', costPicos: 15_000_000n * picosPerMicro })
  assert.deepEqual(chargeFor(price, usage, 'aborted'), { priceId: 'price_1', costPicos: 15_000_000n * picosPerMicro })
  assert.deepEqual(chargeFor(price, usage, 'failed'), { priceId: 'price_1', costPicos: 0n })
  assert.equal(chargeFor(null, usage, 'finished'), null)
})

test('a cost is exact', () => {
  fc.assert(
    fc.property(rates, usages, (some, usage) => {
      const exact =
        BigInt(usage.inputUncached) * BigInt(some.input) +
        BigInt(usage.inputCacheRead) * BigInt(some.cacheRead) +
        BigInt(usage.inputCacheWrite - usage.inputCacheWriteLong) * BigInt(some.cacheWriteShort) +
        BigInt(usage.inputCacheWriteLong) * BigInt(some.cacheWriteLong) +
        BigInt(usage.output) * BigInt(some.output)
      assert.equal(costOfUsage(some, usage), exact)
    }),
  )
})

test('more tokens or a higher rate never cost less', () => {
  const kinds = ['inputUncached', 'inputCacheRead', 'inputCacheWrite', 'output'] as const
  const names = ['input', 'cacheRead', 'cacheWriteShort', 'cacheWriteLong', 'output'] as const
  fc.assert(
    fc.property(rates, usages, fc.constantFrom(...kinds), fc.constantFrom(...names), (some, usage, kind, name) => {
      const cost = costOfUsage(some, usage)
      assert.ok(costOfUsage(some, { ...usage, [kind]: usage[kind] + 1 }) >= cost)
      assert.ok(costOfUsage({ ...some, [name]: some[name] + 1 }, usage) >= cost)
    }),
  )
})

test('no usage within the bounds of a request costs more than its worst case', () => {
  fc.assert(
    fc.property(rates, usages, (some, usage) => {
      const bounds = {
        inputTokens: usage.inputUncached + usage.inputCacheRead + usage.inputCacheWrite,
        outputTokensMax: usage.output,
        cacheLifetimes: ['5m', '1h'] as const,
      }
      assert.ok(BigInt(worstCaseCost(some, bounds)) * picosPerMicro >= costOfUsage(some, usage))
    }),
  )
  const bounds = { inputTokens: 1_000_000, outputTokensMax: 1_000_000 }
  assert.equal(worstCaseCost(listed, { ...bounds, cacheLifetimes: [] }), 18_000_000)
  assert.equal(worstCaseCost(listed, { ...bounds, cacheLifetimes: ['5m'] }), 18_750_000)
})

test('a cost that could not be recorded exactly is refused', () => {
  const dear = { ...listed, output: 1_000_000_000_000 }
  assert.throws(() => costOfUsage(dear, { ...zeroUsage, output: Number.MAX_SAFE_INTEGER }), /cannot be recorded/)
})
