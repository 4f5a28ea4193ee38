import { runAlone, countTokens } from '../../src/core/engine.ts'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { collect } from '../../src/core/collect.ts'
import { ApiError } from '../../src/core/error.ts'
import type { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { user } from '../harness/engines/ask-engine.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { engineRequest } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'

const never = new AbortController().signal
let engine: LlamaEngine

before(() => {
  engine = openLlama({ windowTokensMax: 32_768 })
})
after(() => engine.close())

/** Long enough in its prompt to be under way for seconds; each begins otherwise, so that none waits for another one's prompt. */
const slow = (number: number) => engineRequest({ messages: [user(`${number} ${'word '.repeat(8_000)}`)] })

test('a killed child fails what it had begun, takes up again what it had not, and is restarted', async () => {
  const attempts = Array.from({ length: 4 }, (_, number) => collect(runAlone(engine, slow(number), never)))
  const settled = Promise.allSettled(attempts)
  await until(
    () => engine.status().running === 2 && engine.status().waiting === 2,
    'The requests are not under way.',
    120_000,
  )
  const pid = engine.pid
  assert.ok(pid !== null)
  process.kill(pid, 'SIGKILL')
  const outcomes = await settled
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  assert.equal(failures.length, 2)
  assert.ok(failures.every((error) => error instanceof ApiError && error.code === 'engine-failed'))
  assert.notEqual(engine.pid, pid)
  const { reason } = await collect(runAlone(engine, engineRequest(), never))
  assert.equal(reason.kind, 'end')
})

test('a prompt that does not fit is refused with the exact numbers', async () => {
  const request = engineRequest({ windowTokensMax: 40 })
  const count = await countTokens(engine, request, never)
  const limit = (windowTokensMax: number) => collect(runAlone(engine, { ...request, windowTokensMax }, never))
  await assert.rejects(limit(count), (error) => {
    assert.ok(error instanceof ApiError)
    assert.deepEqual(error.reason, { code: 'context-exceeded', inputTokens: count, windowTokens: count })
    return true
  })
  const { reason, usage } = await limit(count + 2)
  assert.deepEqual([reason.kind, usage.output], ['window', 2])
})

test('a conversation holds exactly windowTokensMax tokens, prompt and answer together', async () => {
  const small = openLlama({ windowTokensMax: 600 })
  const asking = (words: number) => engineRequest({ messages: [user('a '.repeat(words))], outputTokensMax: 500 })
  try {
    let words = 1
    while ((await countTokens(small, asking(words), never)) < 596) words += 1
    const inputTokens = await countTokens(small, asking(words), never)
    assert.ok(inputTokens < 600)
    const { reason, usage } = await collect(runAlone(small, asking(words), never))
    assert.deepEqual([reason.kind, inputTokens + usage.output, small.status().windowTokens], ['window', 600, 600])
    await assert.rejects(collect(runAlone(small, asking(words + 50), never)), (error) => {
      assert.ok(error instanceof ApiError && error.reason.code === 'context-exceeded')
      assert.equal(error.reason.windowTokens, 600)
      return true
    })
  } finally {
    await small.close()
  }
})

test('weights that cannot be loaded leave the engine down, and requests are told at once', async () => {
  const broken = openLlama({ weightsPath: import.meta.filename })
  const isOverloaded = (error: unknown) => error instanceof ApiError && error.code === 'overloaded'
  await assert.rejects(collect(runAlone(broken, engineRequest(), never)), isOverloaded)
  assert.notEqual(broken.status().state, 'ready')
  await broken.close()
  assert.equal(broken.status().state, 'closed')
})
