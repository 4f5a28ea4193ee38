// The room for prompts that have left their slots, changed while the engine runs.

import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { askEngine, longPrompt } from '../../harness/engines/ask-engine.ts'
import { openLlama } from '../../harness/engines/open-llama.ts'
import { until } from '../../harness/start-service.ts'

const large = 1_000_000_000

test('prompts beyond a smaller cache are dropped, and a larger one is used, by the next process too', async (t) => {
  const engine = openLlama({ slots: 1, cacheBytesMax: large })
  t.after(() => engine.close())
  const sourceOf = async (number: number) => (await askEngine(engine, longPrompt(number))).cache.source
  const sourceAfterAnother = async () => {
    await sourceOf(2)
    return sourceOf(1)
  }
  await sourceOf(1)
  equal(await sourceAfterAnother(), 'memory')
  await sourceOf(2)
  engine.resizeCache(0)
  const afterwards = await askEngine(engine, longPrompt(1))
  // A few tokens of markup are the same in all prompts.
  equal(afterwards.cache.reusedTokens < 10, true, 'it is still held')
  engine.resizeCache(large)
  equal(await sourceAfterAnother(), 'memory')
  engine.resizeCache(0)
  const { pid } = engine
  process.kill(pid ?? -1, 'SIGKILL')
  await until(() => engine.pid !== pid && engine.status().state === 'ready', 'The engine does not come back.')
  await sourceOf(1)
  equal((await sourceAfterAnother()) === 'memory', false)
})
