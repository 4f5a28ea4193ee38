// What the chooser asks of the library's samplers, and that it comes to the same.

import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { LogitIndex, Native, SamplerConfig } from '../../src/engines/llama/child/native.ts'
import { TokenChooser } from '../../src/engines/llama/child/sampling/token-chooser.ts'
import type { EngineRequest } from '../../src/core/generation.ts'
import { computePrompt, openLane } from '../harness/engines/open-lane.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'

const configs: SamplerConfig[] = []
const lane = await openLane((native) => ({
  ...native,
  takeSampler() {
    const sampler = native.takeSampler()
    if (Object.hasOwn(sampler, 'applyConfig')) return sampler
    const applyConfig = sampler.applyConfig.bind(sampler)
    const note = (config: SamplerConfig) => {
      configs.push(config)
      applyConfig(config)
    }
    return Object.defineProperty(sampler, 'applyConfig', { value: note })
  },
}))

/** Decodes an answer token by token with whatever chooses. */
async function decode(native: Native, choose: (index: LogitIndex) => Promise<number>): Promise<number[]> {
  native.memory.clear(0)
  const answer: number[] = []
  let pending = lane.context.vocabulary.tokenize('A story of a story of a story')
  for (let position = 0; answer.length < 40;) {
    native.context.initBatch(pending.length)
    const [logit] = Array.from(native.context.addToBatch(0, position, pending, Uint32Array.of(pending.length - 1)))
    await native.context.decodeBatch()
    position += pending.length
    const token = await choose(logit!)
    answer.push(token)
    pending = Uint32Array.of(token)
  }
  return answer
}

function createChooser(sampling: Partial<EngineRequest['sampling']>): TokenChooser {
  const request = engineRequest({ sampling: { ...withSeed(7, 0), ...sampling }, outputTokensMax: 100 })
  return new TokenChooser(lane.native, lane.context.vocabulary, request, [])
}

test('presence and frequency penalties choose what the library would choose, without its look-ups', async () => {
  const penalties = { presencePenalty: 0.7, frequencyPenalty: 0.4 }
  configs.length = 0
  const chooser = createChooser(penalties)
  const ours = await decode(lane.native, async (index) => (await chooser.choose(index)).token)
  deepEqual(
    configs.filter((config) => config.repeatPenaltyTokens !== undefined),
    [],
  )
  const sampler = lane.native.takeSampler()
  const history = { repeatPenaltyMaxTokens: 100, repeatPenalty: 1, repeatPenaltyTokens: new Uint32Array() }
  sampler.applyConfig({
    temperature: 0,
    topP: 1,
    minP: 0,
    seed: 7,
    ...history,
    repeatPenaltyPresencePenalty: penalties.presencePenalty,
    repeatPenaltyFrequencyPenalty: penalties.frequencyPenalty,
  })
  deepEqual(ours, await decode(lane.native, (index) => lane.native.context.sampleToken(index, sampler)))
  const unpenalized = createChooser({})
  const free = await decode(lane.native, async (index) => (await unpenalized.choose(index)).token)
  equal(new Set(free).size < new Set(ours).size, true)
})

test('a bias of the request and a penalty on the same token add up', async () => {
  configs.length = 0
  const chooser = createChooser({ presencePenalty: 0.5, logitBias: [[40, 100]] })
  deepEqual(new Set(await decode(lane.native, async (index) => (await chooser.choose(index)).token)), new Set([40]))
  deepEqual([...(configs.at(-1)?.tokenBiasValues ?? [])], [99.5])
  chooser.dispose()
})

test('top_p looks at a bounded number of tokens, and leaves a top_k of the request as it is', () => {
  const topKOf = (sampling: Partial<EngineRequest['sampling']>) => {
    configs.length = 0
    const chooser = createChooser({ temperature: 1, ...sampling })
    const { topK } = configs.at(-1) ?? {}
    chooser.dispose()
    return topK
  }
  equal(topKOf({ topP: 0.9 }), 4_096)
  equal(topKOf({ topP: 0.9, topK: 20 }), 20)
  equal(topKOf({ topP: 1 }), undefined)
  equal(topKOf({}), undefined)
})

const grammars = [
  'root ::= [0-9]{39} "."',
  'root ::= ("Q" [xyz] "~" [0-9]? "é"){20}',
  String.raw`root ::= "{" ("\"" [a-z]{1,3} "\"" ","){20} "}"`,
]

test('under a grammar the likeliest token that it has a place for is chosen, wherever it is among all of them', async () => {
  for (const grammar of grammars) {
    const chooser = createChooser({})
    chooser.setGrammar(grammar)
    const ours = await decode(lane.native, async (index) => (await chooser.choose(index)).token)
    const sampler = lane.native.takeSampler()
    const grammarEvaluationState = lane.native.createGrammarState(grammar)
    sampler.applyConfig({ temperature: 0, topP: 1, minP: 0, seed: 7, grammarEvaluationState })
    deepEqual(ours, await decode(lane.native, (index) => lane.native.context.sampleToken(index, sampler)), grammar)
    chooser.dispose()
    lane.native.giveSamplerBack(sampler)
  }
})

test('a repetition costs under a grammar what it costs without one, also behind a place where tokens were refused', async () => {
  const grammar = 'root ::= [a-f ]{60}'
  const chooser = createChooser({ repetitionPenalty: 1.3 })
  chooser.setGrammar(grammar)
  const told: { readonly tokens: number | undefined; readonly chosen: number }[] = []
  let chosen = 0
  const ours = await decode(lane.native, async (index) => {
    configs.length = 0
    const { token } = await chooser.choose(index)
    chosen += 1
    if (configs.length > 0) told.push({ tokens: configs.at(-1)?.repeatPenaltyTokens?.length, chosen })
    return token
  })
  equal(told.length > 0, true)
  for (const one of told) equal(one.tokens, one.chosen)
  const sampler = lane.native.takeSampler()
  sampler.applyConfig({
    temperature: 0,
    topP: 1,
    minP: 0,
    seed: 7,
    repeatPenalty: 1.3,
    repeatPenaltyMaxTokens: 100,
    repeatPenaltyTokens: new Uint32Array(),
    grammarEvaluationState: lane.native.createGrammarState(grammar),
  })
  deepEqual(ours, await decode(lane.native, (index) => lane.native.context.sampleToken(index, sampler)))
  chooser.dispose()
  lane.native.giveSamplerBack(sampler)
})

test('under a grammar each token is chosen as often as the model says, of those that it has a place for', async () => {
  const { native } = lane
  const { vocabulary } = lane.context
  const letters = Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => vocabulary.tokenize(letter)[0]!)
  const counts = new Map(letters.map((letter) => [letter, 0]))
  const draws = 2_000
  const index = await computePrompt(lane, 'A story of a story of a story')
  const meter = native.takeSampler()
  meter.applyConfig({ temperature: 0, topP: 1, minP: 0, seed: 0 })
  const { logits } = await native.context.measureToken(index, meter, { tokens: letters, top: 0 })
  const weights = new Map(logits.map(([token, logit]) => [token, Math.exp(logit)]))
  const total = letters.reduce((sum, letter) => sum + weights.get(letter)!, 0)
  for (let seed = 0; seed < draws; seed++) {
    const chooser = createChooser({ temperature: 1, seed })
    chooser.setGrammar('root ::= [a-z]')
    const { token } = await chooser.choose(index)
    counts.set(token, counts.get(token)! + 1)
    chooser.dispose()
  }
  // Of a sum of squares with 25 degrees of freedom one in a million is above 75.
  const squares = letters.map((letter) => {
    const expected = (draws * weights.get(letter)!) / total
    return (counts.get(letter)! - expected) ** 2 / expected
  })
  equal(squares.reduce((sum, one) => sum + one) < 75, true, squares.join(' '))
})
