import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { openLane } from '../../../../../test/harness/engines/open-lane.ts'

const { native } = await openLane((one) => one, { slots: 4 })
const { context, memory } = native
const likeliest = native.createSampler()
likeliest.applyConfig({ temperature: 1, topP: 1, minP: 0, topK: 8, seed: 0 })
const size = native.vocabularySize

/** Tokens that no other number begins with. */
const tokensOf = (number: number, length: number) =>
  Uint32Array.from({ length }, (_, index) => 10 + ((number * 7_919 + index * 104_729) % (size - 20)))

/** Computes tokens behind those that a slot holds, and returns the likeliest ones to follow. */
async function compute(slot: number, position: number, tokens: Uint32Array): Promise<readonly (readonly number[])[]> {
  context.initBatch(tokens.length)
  const [logit] = Array.from(context.addToBatch(slot, position, tokens, Uint32Array.of(tokens.length - 1)))
  await context.decodeBatch()
  ok(logit !== undefined)
  const { logits } = await context.measureToken(logit, likeliest, { tokens: [], top: 8 })
  return logits.map(([token, weight]) => [token, Number(weight.toFixed(3))])
}

const begun = tokensOf(1, 60)
const other = tokensOf(2, 60)
const next = Uint32Array.of(77)

/** What follows when nothing was copied. */
async function expected(): Promise<readonly (readonly number[])[]> {
  memory.clear(3)
  await compute(3, 0, begun)
  return compute(3, begun.length, next)
}

test('a copy is what its source was, also where the source is given to somebody else before the next step', async () => {
  const wanted = await expected()
  await compute(0, 0, other)
  const taken = await memory.save(0, other)
  memory.clear(0)
  await compute(0, 0, begun)
  await memory.copy(1, 0)
  memory.clear(0)
  ok(await memory.load(0, taken))
  deepEqual(await compute(1, begun.length, next), wanted)
  for (const slot of [0, 1]) memory.clear(slot)
  taken.drop()
})

test('a copy that is put aside before the next step is what its source was', async () => {
  const wanted = await expected()
  await compute(1, 0, other)
  memory.clear(1)
  await compute(0, 0, begun)
  await memory.copy(1, 0)
  const aside = await memory.save(1, begun)
  memory.clear(1)
  ok(await memory.load(2, aside))
  deepEqual(await compute(2, begun.length, next), wanted)
  for (const slot of [0, 2]) memory.clear(slot)
  aside.drop()
})
