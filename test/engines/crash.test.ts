import { runAlone } from '../../src/core/run-alone.ts'
import { countTokens } from '../../src/core/count-tokens.ts'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { collect } from '../../src/core/collect.ts'
import { ApiError } from '../../src/core/error.ts'
import type { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { openLlama } from '../harness/open-llama.ts'
import { engineRequest } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'

const never = new AbortController().signal
let engine: LlamaEngine

before(() => {
  engine = openLlama({ windowTokensMax: 32_768 })
})
after(() => engine.close())

/** Long enough in its prompt to be under way for seconds. */
const slow = engineRequest({ messages: [{ role: 'user', content: [{ kind: 'text', text: 'word '.repeat(8_000) }] }] })

test('a killed child fails what it had begun, takes up again what it had not, and is restarted', async () => {
  const attempts = Array.from({ length: 4 }, () => collect(runAlone(engine, slow, never)))
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

test('weights that cannot be loaded leave the engine down, and requests are told at once', async () => {
  const broken = openLlama({ weightsPath: import.meta.filename })
  const isOverloaded = (error: unknown) => error instanceof ApiError && error.code === 'overloaded'
  await assert.rejects(collect(runAlone(broken, engineRequest(), never)), isOverloaded)
  assert.notEqual(broken.status().state, 'ready')
  await broken.close()
  assert.equal(broken.status().state, 'closed')
})
