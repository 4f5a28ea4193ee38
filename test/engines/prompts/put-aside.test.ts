// Prompts that have left their slots, and one whose computing was broken off.

import { runAlone } from '../../../src/core/engine.ts'
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { GenerationAborted, inputTokens } from '../../../src/core/generation.ts'
import type { LlamaEngine } from '../../../src/engines/llama/llama-engine.ts'
import { askEngine, longPrompt, owner } from '../../harness/engines/ask-engine.ts'
import { openLlama } from '../../harness/engines/open-llama.ts'
import { engineRequest } from '../../harness/requests.ts'

const large = 1_000_000_000

function open(t: TestContext, settings: Parameters<typeof openLlama>[0]): LlamaEngine {
  const engine = openLlama(settings)
  t.after(() => engine.close())
  return engine
}

for (const slots of [1, 2]) {
  test(`what has left its slot comes back from memory, with ${slots} of them`, async (t) => {
    const engine = open(t, { slots, cacheBytesMax: large })
    const numbers = Array.from({ length: slots + 2 }, (_, index) => index)
    const before: string[] = []
    for (const number of numbers) before.push((await askEngine(engine, longPrompt(number))).text)
    for (const number of numbers) {
      const { cache, input, text } = await askEngine(engine, longPrompt(number))
      deepEqual([cache.source, cache.reusedTokens], ['memory', input - 1])
      equal(text, before[number])
    }
  })
}

test('a prompt that has left its slot is gone where no memory is granted', async (t) => {
  const engine = open(t, { slots: 1, cacheBytesMax: 0 })
  for (const number of [1, 2, 1]) {
    const { cache } = await askEngine(engine, longPrompt(number))
    // A few tokens of markup are the same in all prompts.
    ok(cache.reusedTokens < 10, `${cache.reusedTokens} tokens from ${cache.source}`)
  }
  const { cache, input } = await askEngine(engine, longPrompt(1))
  deepEqual([cache.source, cache.reusedTokens], ['slot', input - 1])
})

test('a prompt that begins like one that is under way is copied from it', async (t) => {
  const engine = open(t, { slots: 2, cacheBytesMax: 0 })
  const underWay = runAlone(
    engine,
    engineRequest({ ...longPrompt(1), outputTokensMax: 4_000, outputTokensMin: 4_000 }),
    never,
  )
  for await (const event of underWay) {
    if (event.type !== 'delta') continue
    const { cache, input } = await askEngine(engine, longPrompt(1))
    deepEqual([cache.source, cache.reusedTokens], ['copy', input - 1])
    return
  }
})

const never = new AbortController().signal

test('a prompt whose computing was broken off goes on from there', async (t) => {
  const engine = open(t, { slots: 1, cacheBytesMax: large })
  const asked = { ...longPrompt(1, 3_000), outputTokensMax: 30 }
  const controller = new AbortController()
  const abort = async () => {
    for await (const _ of runAlone(engine, engineRequest(asked), controller.signal)) controller.abort()
  }
  await rejects(abort(), (error) => error instanceof GenerationAborted && inputTokens(error.usage) > 3_000)
  const second = await askEngine(engine, asked)
  const { reusedTokens, source } = second.cache
  ok(reusedTokens > 0 && reusedTokens < second.input - 1, `${reusedTokens} of ${second.input}`)
  equal(source, 'slot')
  const cold = await askEngine(engine, { ...asked, ...owner('org_cold') })
  deepEqual([cold.cache.reusedTokens, cold.blocks], [0, second.blocks])
})
