import { deepEqual, ok } from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { suite, test } from 'node:test'
import { openLane } from '../../../../../test/harness/engines/open-lane.ts'
import { placeholderPath } from '../../../../../test/harness/engines/placeholder-path.ts'

const starterPath = fileURLToPath(new URL('../../../../../weights/starter.gguf', import.meta.url))

for (const [name, weightsPath] of [
  ['a model that sees everything', placeholderPath],
  ['a model with windows', starterPath],
] as const) {
  const { native } = await openLane((one) => one, { weightsPath, slots: 4 })
  const { context, memory } = native
  const likeliest = native.takeSampler()
  likeliest.applyConfig({ temperature: 1, topP: 1, minP: 0, topK: 8, seed: 0 })

  /** Tokens that no other number has. */
  const tokensOf = (number: number, length: number) =>
    Uint32Array.from({ length }, (_, at) => 10 + ((number * 7_919 + at * 104_729) % (native.vocabularySize - 20)))

  /** Computes tokens behind those that a slot holds, and returns the likeliest ones to follow. */
  const compute = async (slot: number, position: number, tokens: Uint32Array) => {
    let likely: readonly (readonly number[])[] = []
    for (let at = 0; at < tokens.length; at += 64) {
      const some = tokens.subarray(at, at + 64)
      context.initBatch(some.length)
      const [logit] = Array.from(context.addToBatch(slot, position + at, some, Uint32Array.of(some.length - 1)))
      await context.decodeBatch()
      ok(logit !== undefined)
      const { logits } = await context.measureToken(logit, likeliest, { tokens: [], top: 8 })
      likely = logits.map(([token, weight]) => [token, Number(weight.toFixed(3))])
    }
    return likely
  }

  const begun = tokensOf(1, 700)
  const other = tokensOf(2, 700)
  const next = Uint32Array.of(77)
  const clear = () => [0, 1, 2].forEach((slot) => memory.clear(slot))

  /** What follows the first tokens when nothing was copied. */
  const expected = async (length: number) => {
    memory.clear(3)
    await compute(3, 0, begun.subarray(0, length))
    return compute(3, length, next)
  }

  suite(name, () => {
    test('a copy is what its source was, also where the source is given to somebody else before the next step', async () => {
      const wanted = await expected(begun.length)
      await compute(0, 0, other)
      const taken = await memory.save(0, other)
      memory.clear(0)
      await compute(0, 0, begun)
      ok(await memory.copy(1, 0))
      memory.clear(0)
      ok(await memory.load(0, taken))
      deepEqual(await compute(1, begun.length, next), wanted)
      clear()
      taken.drop()
    })

    test('a copy that is put aside before the next step is what its source was', async () => {
      const wanted = await expected(begun.length)
      await compute(1, 0, other)
      memory.clear(1)
      await compute(0, 0, begun)
      ok(await memory.copy(1, 0))
      const aside = await memory.save(1, begun)
      memory.clear(1)
      ok(await memory.load(2, aside))
      deepEqual(await compute(2, begun.length, next), wanted)
      clear()
      aside.drop()
    })

    test('a copy can be cut back to where its source could', async () => {
      const length = begun.length - 20
      const wanted = await expected(length)
      await compute(0, 0, begun)
      ok(memory.canCutBack(0, length))
      ok(await memory.copy(1, 0))
      ok(memory.cutBack(1, length))
      deepEqual(await compute(1, length, next), wanted)
      clear()
    })

    test('a checkpoint brings a copy back to where it was taken', async () => {
      const length = 448
      const wanted = await expected(length)
      await compute(0, 0, begun.subarray(0, length))
      const checkpoint = await memory.checkpoint(0, length)
      await compute(0, length, tokensOf(3, 500))
      ok(await memory.copy(1, 0))
      ok(await memory.restore(1, checkpoint))
      deepEqual(await compute(1, length, next), wanted)
      memory.drop(checkpoint)
      clear()
    })

    test('within its reach a checkpoint holds what a shorter one would', async () => {
      const length = Math.min(128, memory.reachTokens)
      const shorter = length - 64
      const wanted = await expected(shorter)
      await compute(0, 0, begun.subarray(0, length))
      const checkpoint = await memory.checkpoint(0, shorter)
      await compute(0, length, tokensOf(3, 800))
      ok(await memory.restore(0, checkpoint))
      deepEqual(await compute(0, shorter, next), wanted)
      memory.drop(checkpoint)
      clear()
    })
  })
}
