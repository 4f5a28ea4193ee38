import { countTokens } from '../../src/core/engine.ts'
import { ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { GenerationAborted } from '../../src/core/generation.ts'
import { user } from '../harness/engines/ask-engine.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { engineRequest } from '../harness/requests.ts'

test('a count that nobody waits for any longer ends at once', async (t) => {
  const engine = openLlama()
  t.after(() => engine.close())
  const never = new AbortController().signal
  const long = engineRequest({ messages: [user('Some words, and a number like 12.5; a line\n'.repeat(40_000))] })
  await countTokens(engine, engineRequest(), never)
  const startedMs = performance.now()
  await countTokens(engine, long, never)
  const wholeMs = performance.now() - startedMs
  const controller = new AbortController()
  const counted = countTokens(engine, long, controller.signal)
  // Beside others the first one may have taken several times what it takes by itself.
  const leaving = setTimeout(() => controller.abort(), wholeMs / 20)
  await rejects(counted, GenerationAborted)
  clearTimeout(leaving)
  // Nothing of the count is left behind.
  ok((await countTokens(engine, engineRequest(), never)) > 0)
  ok(engine.status().waiting === 0)
})
