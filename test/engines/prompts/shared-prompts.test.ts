// Prompts that begin alike and are asked for together.

import { countTokens, runAlone } from '../../../src/core/engine.ts'
import { deepEqual, equal, ok } from 'node:assert/strict'
import { suite, test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Usage } from '../../../src/core/generation.ts'
import type { LlamaEngine } from '../../../src/engines/llama/llama-engine.ts'
import { askEngine, longPrompt, longText, owner, user } from '../../harness/engines/ask-engine.ts'
import { openLlama } from '../../harness/engines/open-llama.ts'
import { placeholderPath } from '../../harness/engines/placeholder-path.ts'
import { queueEngine } from '../../harness/engines/queued-engine.ts'
import { engineRequest, withSeed } from '../../harness/requests.ts'

const starterPath = fileURLToPath(new URL('../../../weights/starter.gguf', import.meta.url))
const never = new AbortController().signal

function open(t: TestContext, settings: Parameters<typeof openLlama>[0]): LlamaEngine {
  const engine = openLlama({ slots: 4, ...settings })
  t.after(() => engine.close())
  return engine
}

const computed = ({ inputUncached, inputCacheWrite }: Usage) => inputUncached + inputCacheWrite
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

for (const [name, weightsPath] of [
  ['a model that sees everything', placeholderPath],
  ['a model with windows', starterPath],
] as const) {
  suite(name, () => {
    test('computes the prompt of four answers once', async (t) => {
      const engine = open(t, { weightsPath })
      const request = engineRequest({ ...longPrompt(1, 1_000), sampling: withSeed(1), outputTokensMax: 12 })
      const counted = await countTokens(engine, request, never)
      const events = await Array.fromAsync(queueEngine(engine).generateSeveral(request, 4, never))
      const usages = events.flatMap((event) => (event.type === 'start' ? [event.usage] : []))
      const [first, ...others] = usages.map(computed)
      equal(first, counted)
      deepEqual(others, [1, 1, 1])
      ok(usages.every((usage) => computed(usage) + usage.inputCacheRead === counted))
      const sources = events.flatMap((event) => (event.type === 'start' ? [event.cache?.source] : []))
      deepEqual(sources, ['none', 'copy', 'copy', 'copy'])
    })

    test('computes a beginning once that several prompts share', async (t) => {
      const engine = open(t, { weightsPath })
      const ask = (number: number) =>
        askEngine(engine, {
          messages: [
            { role: 'system', content: [{ kind: 'text', text: longText(1, 1_000) }] },
            user(`What of ${number}?`),
          ],
        })
      const answers = await Promise.all([1, 2, 3, 4].map(ask))
      const all = sum(answers.map(({ usage }) => computed(usage)))
      const [longest = 0] = answers.map(({ input }) => input).toSorted((a, b) => b - a)
      ok(all < longest + 4 * 70, `${all} tokens computed for prompts of ${longest}`)
    })

    test('shares nothing between organizations that ask for the same at the same time', async (t) => {
      const engine = open(t, { weightsPath })
      const asks = ['org_a', 'org_b'].map((name) => askEngine(engine, { ...longPrompt(1, 1_000), ...owner(name) }))
      for (const { usage, input } of await Promise.all(asks)) equal(computed(usage), input)
    })

    test('goes on with those that wait when the one they wait for is broken off', async (t) => {
      const engine = open(t, { weightsPath, batchTokens: 32 })
      const controller = new AbortController()
      const request = engineRequest({ ...longPrompt(1, 3_000), outputTokensMax: 4 })
      const first = runAlone(engine, request, controller.signal)
      await first.next()
      const second = askEngine(engine, longPrompt(1, 3_000))
      controller.abort()
      await first.next().catch(() => {})
      const { usage, input } = await second
      ok(computed(usage) > 0 && computed(usage) <= input)
    })
  })
}
