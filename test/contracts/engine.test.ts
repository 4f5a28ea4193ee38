import { runAlone } from '../../src/core/engine.ts'
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { collect } from '../../src/core/collect.ts'
import { FakeEngine } from '../../src/engines/fake/fake-engine.ts'
import type { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'
import { describeEngineContract } from './engine.ts'

describeEngineContract('fake', () => Promise.resolve(new FakeEngine()))

const open = (isReproducible: boolean) => openLlama({ slots: 4, batchTokens: 256, isReproducible })
describeEngineContract('llama', () => Promise.resolve(open(false)))
describeEngineContract('llama, reproducible', () => Promise.resolve(open(true)))

describe('the reproducible lane', () => {
  let engine: LlamaEngine
  before(() => {
    engine = open(true)
  })
  after(() => engine.close())

  it('gives the same bytes alone and among others, long prompts and chance included', async () => {
    const ask = async (seed: number) => {
      const text = `Question ${seed}. ${'Some more words to read. '.repeat(seed * 40)}`
      const messages = [{ role: 'user', content: [{ kind: 'text', text }] }] as const
      const request = engineRequest({ messages, sampling: withSeed(seed), thinking: { kind: 'on', tokensMax: null } })
      return (await collect(runAlone(engine, request, new AbortController().signal))).blocks
    }
    const seeds = Array.from({ length: 16 }, (_, seed) => seed)
    const alone: unknown[] = []
    for (const seed of seeds) alone.push(await ask(seed))
    assert.deepEqual(await Promise.all(seeds.map(ask)), alone)
  })
})
