import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { engineRequest } from '../../test/harness/requests.ts'
import { until } from '../../test/harness/start-service.ts'
import { collect } from '../core/collect.ts'
import { ApiError } from '../core/error.ts'
import { GenerationAborted, inputTokens, type GenerationEvent } from '../core/generation.ts'
import { FakeEngine, type FakeEngineOptions } from '../engines/fake/fake-engine.ts'
import { withAdmission, type AdmissionOptions } from './admission.ts'

const never = new AbortController().signal

function admit(options: FakeEngineOptions, limits: Partial<AdmissionOptions> = {}) {
  const clock = createManualClock()
  const inner = new FakeEngine({ slots: 2, ...options })
  const defaults = { waitingMax: 64, waitingBytesMax: 2 ** 20, waitMsMax: 300_000, clock, random: () => 0.5 }
  return { inner, clock, engine: withAdmission(inner, { ...defaults, ...limits }) }
}

const asked = (apiKeyId: string) => engineRequest({ tenant: { organizationId: 'org', apiKeyId }, requestId: apiKeyId })
const endless: FakeEngineOptions = { script: () => [{ kind: 'wait', ms: 60_000 }] }
const isOverloaded = (error: unknown) => error instanceof ApiError && error.code === 'overloaded'

test('refuses what neither a slot nor the queue can hold, and takes it when one has ended', async () => {
  const { engine } = admit(endless, { waitingMax: 1 })
  const controllers = Array.from({ length: 4 }, () => new AbortController())
  const begin = ({ signal }: AbortController) => engine.generate(engineRequest(), signal)[Symbol.asyncIterator]().next()
  const begun = controllers.slice(0, 3).map(begin)
  await Promise.all(begun.slice(0, 2))
  await assert.rejects(collect(engine.generate(engineRequest(), never)), isOverloaded)
  controllers[0]?.abort()
  controllers[2]?.abort()
  await assert.rejects(begun[2]!, GenerationAborted)
  assert.deepEqual([engine.status().running, engine.status().waiting], [2, 0])
  const last = begin(controllers[3]!)
  assert.equal(engine.status().waiting, 1)
  for (const controller of controllers) controller.abort()
  await assert.rejects(last, GenerationAborted)
})

test('no more run at a time than there are slots, and every key has its turn', async () => {
  const { inner, engine } = admit({
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
  assert.deepEqual([engine.status().running, engine.status().waiting], [0, 0])
})

test('an answer that is read only later does not keep its slot', async () => {
  const { engine } = admit({ slots: 1 })
  const first = engine.generate(engineRequest(), never)[Symbol.asyncIterator]()
  const events: GenerationEvent[] = []
  for (let next = await first.next(); next.value.type !== 'finish'; next = await first.next()) events.push(next.value)
  // The stream is never closed: its reader stands at the last event.
  await collect(engine.generate(engineRequest(), never))
})

test('a request that waited too long is refused and never begun', async () => {
  const { engine, inner, clock } = admit({ slots: 1, ...endless })
  const controller = new AbortController()
  await engine.generate(engineRequest(), controller.signal)[Symbol.asyncIterator]().next()
  const late = collect(engine.generate(engineRequest(), never))
  clock.advance(299_999)
  assert.equal(engine.status().waiting, 1)
  clock.advance(1)
  await assert.rejects(late, isOverloaded)
  assert.deepEqual([inner.status().running, engine.status().waiting], [1, 0])
  controller.abort()
})

test('whoever leaves while waiting is gone at once, and was charged nothing', async () => {
  const { engine } = admit({ slots: 1, ...endless })
  const [running, waiting] = [new AbortController(), new AbortController()]
  await engine.generate(asked('a'), running.signal)[Symbol.asyncIterator]().next()
  const left = collect(engine.generate(asked('b'), waiting.signal))
  assert.deepEqual(
    engine.queue().upcoming.map(({ requestId }) => requestId),
    ['b'],
  )
  waiting.abort()
  assert.deepEqual([engine.status().waiting, engine.queue().upcoming], [0, []])
  await assert.rejects(left, (error) => error instanceof GenerationAborted && inputTokens(error.usage) === 0)
  running.abort()
})

test('an uncounted prompt takes a free slot, and waits for none that is taken', async () => {
  const { engine } = admit({ slots: 1, ...endless })
  const told: string[] = []
  const ask = (name: string, { signal }: AbortController) => {
    const stream = engine.generate(asked(name), signal, {
      begin: () => Promise.resolve(void told.push(`${name} in turn`)),
      beginUncounted(inputTokensMax) {
        told.push(`${name} uncounted`)
        return { outputTokensMax: inputTokensMax }
      },
      counted: (tokens) => void told.push(`${name} ${tokens}`),
      made() {},
    })
    return stream[Symbol.asyncIterator]()
  }
  const [first, second] = [new AbortController(), new AbortController()]
  const running = ask('first', first)
  await running.next()
  const waiting = ask('second', second).next()
  await until(() => engine.queue().upcoming[0]?.inputTokens === 10, 'The second is not prepared.')
  first.abort()
  await assert.rejects(running.next(), GenerationAborted)
  assert.equal((await waiting).value?.type, 'start')
  assert.deepEqual(told, ['first uncounted', 'first 10', 'second in turn'])
  second.abort()
})

test('a failure gives the slot back', async () => {
  const { engine } = admit({ slots: 1, script: () => [{ kind: 'fail', error: new Error('broken') }] })
  for (let round = 0; round < 3; round++) await assert.rejects(collect(engine.generate(engineRequest(), never)))
  await until(() => engine.status().running === 0, 'The slot is still taken.')
})
