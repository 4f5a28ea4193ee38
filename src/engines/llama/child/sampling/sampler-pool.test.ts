// With the library's own samplers, on the placeholder weights.

import { deepEqual, equal, notDeepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { computePrompt, openLane } from '../../../../../test/harness/engines/open-lane.ts'
import type { NativeSampler, SamplerConfig } from '../native.ts'
import { SamplerPool } from './sampler-pool.ts'

const draws = 30
const lane = await openLane()
const { native, context } = lane
const index = await computePrompt(lane, 'A story of a story of a story')

/** What is drawn again and again from the logits of one place. */
async function draw(sampler: NativeSampler, config: SamplerConfig): Promise<number[]> {
  sampler.applyConfig(config)
  const tokens: number[] = []
  while (tokens.length < draws) tokens.push(await native.context.sampleToken(index, sampler))
  return tokens
}

const byChance = { temperature: 1, topP: 1, minP: 0 }
const [letter = 0] = context.vocabulary.tokenize('a')
const before: Readonly<Record<string, Omit<SamplerConfig, 'seed'>>> = {
  'by chance': byChance,
  'with the likeliest tokens alone': { ...byChance, topK: 1 },
  'with bounds': { temperature: 0.2, topP: 0.1, minP: 0.5 },
  'without chance': { ...byChance, temperature: 0 },
  'with a bias': {
    ...byChance,
    tokenBiasKeys: Uint32Array.of(letter),
    tokenBiasValues: Float32Array.of(100),
  },
  'with penalties': {
    ...byChance,
    repeatPenalty: 1.9,
    repeatPenaltyPresencePenalty: 1.5,
    repeatPenaltyFrequencyPenalty: 1.5,
    repeatPenaltyMaxTokens: 100,
    repeatPenaltyTokens: Uint32Array.of(letter, letter),
  },
}
/** Those that a sampler is left with, and another one. */
const seeds = [0, 1, 5]

for (const [name, config] of Object.entries(before)) {
  test(`a sampler that has chosen ${name} chooses for the next answer what a new one does`, async () => {
    for (const [earlier, seed] of seeds.flatMap((one) => seeds.map((other) => [one, other] as const))) {
      const pool = new SamplerPool(() => native.takeSampler(), 1)
      const used = pool.take()
      await draw(used, { ...config, seed: earlier })
      pool.giveBack(used)
      const again = pool.take()
      equal(again, used)
      deepEqual(await draw(again, { ...byChance, seed }), await draw(native.takeSampler(), { ...byChance, seed }))
    }
  })
}

test('a sampler that was not given back goes on with its chance, which the tests above would see', async () => {
  const sampler = native.takeSampler()
  const first = await draw(sampler, { ...byChance, seed: 5 })
  notDeepEqual(await draw(sampler, { ...byChance, seed: 5 }), first)
})

test('a grammar does not hold for the answer after its own', async () => {
  const pool = new SamplerPool(() => native.takeSampler(), 1)
  const ruled = pool.take()
  const grammarEvaluationState = native.createGrammarState('root ::= "a"{200}')
  await draw(ruled, { ...byChance, seed: 5, grammarEvaluationState })
  pool.giveBack(ruled)
  deepEqual(
    await draw(pool.take(), { ...byChance, seed: 5 }),
    await draw(native.takeSampler(), { ...byChance, seed: 5 }),
  )
})

test('no more samplers are kept than may be', () => {
  const disposed: NativeSampler[] = []
  const pool = new SamplerPool(() => {
    const sampler: NativeSampler = { applyConfig() {}, dispose: () => void disposed.push(sampler) }
    return sampler
  }, 2)
  const taken = [pool.take(), pool.take(), pool.take()]
  for (const sampler of taken) pool.giveBack(sampler)
  deepEqual(disposed, taken.slice(2))
})
