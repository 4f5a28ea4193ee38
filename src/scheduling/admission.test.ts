import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineRequest } from '../../test/harness/requests.ts'
import { ApiError } from '../core/error.ts'
import { FakeEngine } from '../engines/fake/fake-engine.ts'
import { withAdmission } from './admission.ts'

test('refuses what neither a slot nor the queue can hold, and takes it when one has ended', async () => {
  const inner = new FakeEngine({ script: () => [{ kind: 'wait', ms: 60_000 }] })
  inner.status = () => ({ state: 'ready', windowTokens: 1, features: new Set(), running: 0, waiting: 0, slots: 2 })
  const engine = withAdmission(inner, { waitingMax: 1 })
  const controllers = Array.from({ length: 3 }, () => new AbortController())
  const begin = async (signal: AbortSignal) => {
    const events = engine.generate(engineRequest(), signal)[Symbol.asyncIterator]()
    await events.next()
    return events
  }
  const [first] = await Promise.all(controllers.map(({ signal }) => begin(signal)))
  const isOverloaded = (error: unknown) => error instanceof ApiError && error.code === 'overloaded'
  await assert.rejects(begin(new AbortController().signal), isOverloaded)
  controllers[0]?.abort()
  await assert.rejects(async () => first?.next())
  const last = new AbortController()
  await begin(last.signal)
  for (const controller of [...controllers, last]) controller.abort()
})
