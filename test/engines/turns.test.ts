// The queue in front of the real engine, which has two slots.

import { countTokens } from '../../src/core/engine.ts'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { collect, type Generation } from '../../src/core/collect.ts'
import { ApiError } from '../../src/core/error.ts'
import { GenerationAborted, inputTokens, type EngineRequest, type GenerationEvent } from '../../src/core/generation.ts'
import type { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import type { WorstCase } from '../../src/inference/worst-case.ts'
import type { WaitingRequest } from '../../src/scheduling/ticket.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { queueEngine, type QueuedEngine, withoutOutputLimit } from '../harness/engines/queued-engine.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'

const never = new AbortController().signal
let llama: LlamaEngine
let engine: QueuedEngine

before(async () => {
  llama = openLlama({ windowTokensMax: 32_768 })
  engine = queueEngine(llama)
  await until(() => llama.status().state === 'ready', 'The engine does not start.')
})
after(() => engine.close())

const words = (count: number, first: number): EngineRequest['messages'] => [
  { role: 'user', content: [{ kind: 'text', text: `${first} ${'word '.repeat(count)}` }] },
]

let asked = 0
const requestOf = (key: string, count: number, changes: Partial<EngineRequest> = {}) =>
  engineRequest({
    requestId: `req_${key}`,
    owner: { organizationId: 'org', apiKeyId: key },
    messages: words(count, asked++),
    ...changes,
  })

const isPrepared = (request: WaitingRequest) => request.inputTokens !== null

const ask = (key: string, count: number, signal = never): Promise<Generation> =>
  collect(engine.generate(requestOf(key, count), signal))

/** Takes both slots for a while. Returns the way to end that. */
async function occupy(): Promise<() => Promise<void>> {
  const controller = new AbortController()
  const runs = [1, 2].map(() => ask('key_long', 20_000, controller.signal))
  const settled = Promise.allSettled(runs)
  await until(() => engine.queue.running === 2, 'The slots are not taken.')
  return async () => {
    controller.abort()
    await settled
  }
}

test('a prompt that does not fit is refused at once, with the exact numbers, while others wait for long work', async () => {
  const free = await occupy()
  const waiting = ask('key_waiting', 10)
  const request = requestOf('key_large', 40_000)
  const inputTokensCounted = await countTokens(llama, request, never)
  await assert.rejects(collect(engine.generate(request, never)), (error) => {
    assert.ok(error instanceof ApiError)
    assert.deepEqual(error.reason, {
      code: 'context-exceeded',
      inputTokens: inputTokensCounted,
      windowTokens: llama.status().windowTokens,
    })
    return true
  })
  assert.deepEqual([engine.queue.running, engine.queue.waiting], [2, 1])
  await free()
  assert.equal((await waiting).reason.kind, 'end')
})

test('a key that floods is passed by the others, and the list says so beforehand', async () => {
  const free = await occupy()
  const order: string[] = []
  const keys = [...Array.from({ length: 20 }, () => 'key_flood'), 'key_a', 'key_b']
  const runs = keys.map(async (key) => {
    for await (const event of engine.generate(requestOf(key, 300), never)) if (event.type === 'start') order.push(key)
  })
  await until(() => engine.queue.status().upcoming.every(isPrepared), 'They are not prepared.')
  const { waiting, upcoming } = engine.queue.status()
  const positionOf = (key: string) => upcoming.findIndex(({ apiKeyId }) => apiKeyId === key)
  assert.equal(waiting, keys.length)
  assert.ok(upcoming.every((request) => (request.inputTokens ?? 0) > 300))
  await free()
  await Promise.all(runs)
  for (const key of ['key_a', 'key_b']) {
    assert.ok(positionOf(key) <= 3, `${key} stands at ${positionOf(key)}`)
    assert.ok(order.indexOf(key) <= 4, order.join(' '))
  }
  assert.deepEqual([engine.queue.running, engine.queue.waiting], [0, 0])
})

test('whoever leaves while waiting is gone at once, was charged nothing and does not hold up the next', async () => {
  const free = await occupy()
  const controller = new AbortController()
  const left = ask('key_left', 10, controller.signal)
  const stays = ask('key_stays', 10)
  await until(() => engine.queue.status().upcoming.every(isPrepared), 'They are not prepared.')
  controller.abort()
  assert.deepEqual(
    engine.queue.status().upcoming.map(({ apiKeyId }) => apiKeyId),
    ['key_stays'],
  )
  await assert.rejects(left, (error) => error instanceof GenerationAborted && inputTokens(error.usage) === 0)
  await free()
  await stays
})

test('a waiting request outlives the crashes that others cause and keeps its place', async () => {
  const long = Array.from({ length: 4 }, () => ask('key', 20_000))
  const failed = Promise.allSettled(long)
  await until(() => engine.queue.status().upcoming.filter(isPrepared).length === 2, 'They are not under way.')
  const waiting = ask('key', 10)
  for (let left = 3; left > 0; left -= 2) {
    await until(() => engine.queue.status().upcoming.filter(isPrepared).length === left, 'They are not prepared.')
    await until(() => llama.status().running === 2, 'None is begun.')
    const { pid } = llama
    assert.ok(pid !== null)
    process.kill(pid, 'SIGKILL')
    await until(() => llama.pid !== pid && llama.status().state === 'ready', 'The engine does not come back.')
  }
  assert.equal((await waiting).reason.kind, 'end')
  const outcomes = await failed
  assert.ok(outcomes.every((outcome) => outcome.status === 'rejected' && outcome.reason instanceof ApiError))
  assert.deepEqual([engine.queue.running, engine.queue.waiting], [0, 0])
})

test('more answers to one request than there are slots come in order', async () => {
  const request = requestOf('key_several', 10, { sampling: withSeed(1) })
  const events = await Array.fromAsync(engine.generateSeveral(request, 7, never))
  assert.equal(events.filter(({ type }) => type === 'finish').length, 7)
  assert.deepEqual([engine.queue.running, engine.queue.waiting], [0, 0])
})

test('a request waits for a slot only when its worst case is reserved, and no answer is longer than was granted', async () => {
  const grants = Promise.withResolvers<number>()
  let counted: number | null = null
  const worstCase: WorstCase = {
    reserve(tokens) {
      counted = tokens
      return grants.promise
    },
    reserveOptimistically: () => null,
    counted() {},
    ...withoutOutputLimit,
  }
  const request = requestOf('key_limited', 20, { outputTokensMax: 50, outputTokensMin: 50 })
  const answer = collect(engine.generate(request, never, worstCase))
  await until(() => counted !== null, 'Nothing was reserved.')
  assert.equal(engine.queue.status().upcoming[0]?.inputTokens, null)
  grants.resolve(7)
  const { usage, reason } = await answer
  assert.deepEqual([usage.output, reason, inputTokens(usage)], [7, { kind: 'length' }, counted])
})

test('an answer that has used its limit up waits with its slot until it may go on, and ends where no more is given', async () => {
  const waits = [0, 40, 0, 0]
  const asked: number[] = []
  const worstCase: WorstCase = {
    reserve: () => Promise.resolve(500),
    reserveOptimistically: () => null,
    counted() {},
    outputSlices: () => ({ first: 8, slice: 8 }),
    growOutput: (tokens) => {
      asked.push(tokens)
      return waits.shift() ?? 60_000
    },
  }
  const request = requestOf('key_growing', 20, { outputTokensMax: 500, outputTokensMin: 500 })
  const paused = new AbortController()
  const events = engine.generate(request, paused.signal, worstCase)
  let output = 0
  for await (const event of events) {
    if (event.type === 'delta') output += event.tokens
    if (output >= 32) break
  }
  assert.deepEqual(asked.slice(0, 4), [8, 8, 8, 8])
  assert.deepEqual([output, engine.queue.running], [32, 0])
})

test('an answer ends with length where that is what becomes of one over its limit', async () => {
  const prepared = engine.engine.prepare(
    requestOf('key_cut', 20, { outputTokensMax: 500, outputTokensMin: 500 }),
    never,
  )
  const events: GenerationEvent[] = []
  const onNearlyUsed = () => prepared.allow(8, true)
  for await (const event of prepared.run({ outputTokensMax: 500, firstOutputTokens: 8, onNearlyUsed }))
    events.push(event)
  const last = events.at(-1)
  assert.ok(last?.type === 'finish')
  assert.deepEqual([last.reason, last.usage.output], [{ kind: 'length' }, 8])
})

test('an answer that waits for more of its limit ends when it hears that there is none', async () => {
  const prepared = engine.engine.prepare(
    requestOf('key_told', 20, { outputTokensMax: 500, outputTokensMin: 500 }),
    never,
  )
  const events: GenerationEvent[] = []
  const onNearlyUsed = () => void setTimeout(() => prepared.allow(8, true), 300)
  for await (const event of prepared.run({ outputTokensMax: 500, firstOutputTokens: 8, onNearlyUsed }))
    events.push(event)
  const last = events.at(-1)
  assert.ok(last?.type === 'finish')
  assert.deepEqual([last.reason, last.usage.output], [{ kind: 'length' }, 8])
})

test('whoever leaves while nothing is reserved is gone at once', async () => {
  const controller = new AbortController()
  let isAsked = false
  const worstCase: WorstCase = {
    reserve() {
      isAsked = true
      return new Promise(() => {})
    },
    reserveOptimistically: () => null,
    counted() {},
    ...withoutOutputLimit,
  }
  const left = collect(engine.generate(requestOf('key_left', 20), controller.signal, worstCase))
  await until(() => isAsked, 'Nothing was reserved.')
  controller.abort()
  await assert.rejects(left, GenerationAborted)
  assert.equal(engine.queue.waiting, 0)
})
