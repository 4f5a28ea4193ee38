// A request that was decoded elsewhere is large: it goes to the child in parts.

import { runAlone, countTokens } from '../../src/core/engine.ts'
import { equal, ok, rejects } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { GenerationAborted, type EngineRequest } from '../../src/core/generation.ts'
import type { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { user } from '../harness/engines/ask-engine.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'

const never = new AbortController().signal

let engine: LlamaEngine
before(() => {
  engine = openLlama()
})
after(() => engine.close())

const longText = 'Some wörds, and a number like 12.5; a line\n'.repeat(20_000)
const large = (changes: Partial<EngineRequest>) => engineRequest({ bytes: 1_000_000, ...changes })

test('in parts it is the same prompt', async () => {
  for (const messages of [[user(longText)], Array.from({ length: 3_000 }, (_, index) => user(`word ${index}`))]) {
    const whole = await countTokens(engine, engineRequest({ messages }), never)
    equal(await countTokens(engine, large({ messages }), never), whole)
  }
})

test('a request sent in parts is answered like any other', async () => {
  const texts: string[] = []
  for (const bytes of [undefined, 1_000_000]) {
    const request = engineRequest({ outputTokensMax: 8, sampling: withSeed(7), ...(bytes !== undefined && { bytes }) })
    let text = ''
    for await (const event of runAlone(engine, request, never)) if (event.type === 'delta') text += event.text
    texts.push(text)
  }
  ok(texts[0] !== '')
  equal(texts[1], texts[0])
})

test('a request aborted while it is sent in parts ends at once and leaves nothing behind', async () => {
  const controller = new AbortController()
  const counted = countTokens(engine, large({ messages: [user(longText.repeat(4))] }), controller.signal)
  // It is being sent: its first part is on its way.
  await new Promise((resolve) => setImmediate(resolve))
  controller.abort()
  await rejects(counted, GenerationAborted)
  ok((await countTokens(engine, large({}), never)) > 0)
  equal(engine.status().waiting, 0)
})

test('other requests do not wait for the parts of a large one', async () => {
  const counted = countTokens(engine, large({ messages: [user(longText)] }), never)
  const [small, whole] = await Promise.all([countTokens(engine, engineRequest(), never), counted])
  ok(small < whole)
})
