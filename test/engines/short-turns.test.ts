// Conversations that begin with a few words.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { suite, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { askEngine, longText, user } from '../harness/engines/ask-engine.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'

const starterPath = fileURLToPath(new URL('../../weights/starter.gguf', import.meta.url))

function open(t: TestContext, settings: Parameters<typeof openLlama>[0]): LlamaEngine {
  const engine = openLlama(settings)
  t.after(() => engine.close())
  return engine
}

const reply = { role: 'assistant', content: [{ kind: 'text', text: 'Other words.' }] } as const
/** An answer much longer than what was asked. */
const long = { outputTokensMax: 300, outputTokensMin: 300 }

for (const [name, weightsPath] of [
  ['a model that sees everything', placeholderPath],
  ['a model with windows', starterPath],
] as const) {
  suite(name, () => {
    test('goes on from a short first turn, though its long answer is told otherwise', async (t) => {
      const engine = open(t, { weightsPath, slots: 2 })
      const first = await askEngine(engine, { messages: [user('Hello there!')], ...long })
      ok(first.input < 64, `${first.input} tokens`)
      const second = await askEngine(engine, { messages: [user('Hello there!'), reply, user('And then?')] })
      equal(second.cache.source, 'slot')
      // All but the markup that opened the answer.
      ok(second.cache.reusedTokens >= first.input - 10, `${second.cache.reusedTokens} of ${first.input}`)
    })

    test('does not give a long conversation up for a few tokens that another begins with', async (t) => {
      const engine = open(t, { weightsPath, slots: 2 })
      const messages = [user('Hello there!'), reply, user(longText(1, 400))]
      const before = await askEngine(engine, { messages })
      const other = await askEngine(engine, { messages: [user('Hello there!'), reply, user('Bye.')] })
      ok(other.cache.reusedTokens < 64 || other.cache.source === 'copy')
      const next = await askEngine(engine, { messages: [...messages, reply, user('Go on.')] })
      equal(next.cache.source, 'slot')
      ok(next.cache.reusedTokens >= before.input - 10, `${next.cache.reusedTokens} of ${before.input}`)
    })
  })
}

test('the same short question again takes the slot of nobody', async (t) => {
  const engine = open(t, { slots: 2 })
  const ask = () => askEngine(engine, { messages: [user('Hello there!')], ...long })
  const first = await ask()
  await ask()
  const messages = [user('Hello there!'), { role: 'assistant', content: [{ kind: 'text', text: first.text }] }] as const
  const { cache } = await askEngine(engine, { messages: [...messages, user('And?')] })
  deepEqual(cache.source, 'slot')
})
