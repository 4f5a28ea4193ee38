import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queueEngine, withoutOutputLimit } from '../../test/harness/engines/queued-engine.ts'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { engineRequest } from '../../test/harness/requests.ts'
import { until } from '../../test/harness/start-service.ts'
import { collect } from '../core/collect.ts'
import { ApiError } from '../core/error.ts'
import { GenerationAborted, inputTokens, type GenerationEvent } from '../core/generation.ts'
import { FakeEngine, type FakeEngineOptions } from '../engines/fake/fake-engine.ts'
import type { SlotQueueOptions } from '../scheduling/slot-queue.ts'

const never = new AbortController().signal

function open(options: FakeEngineOptions, limits: Partial<SlotQueueOptions> = {}) {
  const clock = createManualClock()
  const inner = new FakeEngine({ slots: 2, ...options })
  return { inner, clock, engine: queueEngine(inner, { waitingBytesMax: 2 ** 20, clock, ...limits }) }
}

const asked = (apiKeyId: string) => engineRequest({ owner: { organizationId: 'org', apiKeyId }, requestId: apiKeyId })
const endless: FakeEngineOptions = { script: () => [{ kind: 'wait', ms: 60_000 }] }
const isOverloaded = (error: unknown) => error instanceof ApiError && error.code === 'overloaded'

test('a request that neither a slot nor the queue can hold is refused, and taken when one has ended', async () => {
  const { engine } = open(endless, { waitingMax: 1 })
  const controllers = Array.from({ length: 4 }, () => new AbortController())
  const begin = ({ signal }: AbortController) => engine.generate(engineRequest(), signal)[Symbol.asyncIterator]().next()
  const begun = controllers.slice(0, 3).map(begin)
  await Promise.all(begun.slice(0, 2))
  await assert.rejects(collect(engine.generate(engineRequest(), never)), isOverloaded)
  controllers[0]?.abort()
  controllers[2]?.abort()
  await assert.rejects(begun[2]!, GenerationAborted)
  assert.deepEqual([engine.queue.running, engine.queue.waiting], [2, 0])
  const last = begin(controllers[3]!)
  assert.equal(engine.queue.waiting, 1)
  for (const controller of controllers) controller.abort()
  await assert.rejects(last, GenerationAborted)
})

test('no more answers run at a time than there are slots, and every key has its turn', async () => {
  const { inner, engine } = open({
    script: () => [
      { kind: 'wait', ms: 1 },
      { kind: 'end', reason: { kind: 'end' } },
    ],
  })
  let most = 0
  const order: string[] = []
  const ask = async (key: string) => {
    for await (const event of engine.generate(asked(key), never)) {
      if (event.type === 'start') order.push(key)
      most = Math.max(most, inner.status().running)
    }
  }
  await Promise.all([...Array.from({ length: 20 }, () => 'flood'), 'a', 'b', 'c'].map(ask))
  assert.equal(most, 2)
  assert.equal(order.length, 23)
  assert.ok(order.lastIndexOf('c') <= 7, order.join(' '))
  assert.deepEqual([engine.queue.running, engine.queue.waiting], [0, 0])
})

test('an answer that is read only later does not keep its slot', async () => {
  const { engine } = open({ slots: 1 })
  const first = engine.generate(engineRequest(), never)[Symbol.asyncIterator]()
  const events: GenerationEvent[] = []
  for (let next = await first.next(); next.value.type !== 'finish'; next = await first.next()) events.push(next.value)
  // The stream is never closed: its reader stands at the last event.
  await collect(engine.generate(engineRequest(), never))
})

test('a request that waited too long is refused and never begun', async () => {
  const { engine, inner, clock } = open({ slots: 1, ...endless })
  const controller = new AbortController()
  await engine.generate(engineRequest(), controller.signal)[Symbol.asyncIterator]().next()
  const late = collect(engine.generate(engineRequest(), never))
  clock.advance(299_999)
  assert.equal(engine.queue.waiting, 1)
  clock.advance(1)
  await assert.rejects(late, isOverloaded)
  assert.deepEqual([inner.status().running, engine.queue.waiting], [1, 0])
  controller.abort()
})

test('whoever leaves while waiting is gone at once, and was charged nothing', async () => {
  const { engine } = open({ slots: 1, ...endless })
  const [running, waiting] = [new AbortController(), new AbortController()]
  await engine.generate(asked('a'), running.signal)[Symbol.asyncIterator]().next()
  const left = collect(engine.generate(asked('b'), waiting.signal))
  assert.deepEqual(
    engine.queue.status().upcoming.map(({ requestId }) => requestId),
    ['b'],
  )
  waiting.abort()
  assert.deepEqual([engine.queue.waiting, engine.queue.status().upcoming], [0, []])
  await assert.rejects(left, (error) => error instanceof GenerationAborted && inputTokens(error.usage) === 0)
  running.abort()
})

test('a short prompt takes a free slot before it is counted, and waits for one that is taken', async () => {
  const { engine } = open({ slots: 1, ...endless })
  const told: string[] = []
  const ask = (name: string, { signal }: AbortController) =>
    engine.generate(asked(name), signal, {
      ...withoutOutputLimit,
      reserve: (tokens) => {
        told.push(`${name} reserved for ${tokens}`)
        return Promise.resolve(100)
      },
      reserveOptimistically(inputTokensMax) {
        told.push(`${name} at once for ${inputTokensMax}`)
        return 100
      },
      counted: (tokens) => void told.push(`${name} counted ${tokens}`),
    })
  const [first, second] = [new AbortController(), new AbortController()]
  const running = ask('first', first)
  await running.next()
  const waiting = ask('second', second).next()
  await until(() => engine.queue.status().upcoming[0]?.inputTokens === 10, 'The second is not prepared.')
  first.abort()
  await assert.rejects(running.next(), GenerationAborted)
  assert.equal((await waiting).value?.type, 'start')
  assert.deepEqual(told, ['first at once for 12', 'first counted 10', 'second reserved for 10'])
  second.abort()
})

test('a failure gives the slot back', async () => {
  const { engine } = open({ slots: 1, script: () => [{ kind: 'fail', error: new Error('broken') }] })
  for (let round = 0; round < 3; round++) await assert.rejects(collect(engine.generate(engineRequest(), never)))
  await until(() => engine.queue.running === 0, 'The slot is still taken.')
})
