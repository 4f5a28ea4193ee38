import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { queueEngine } from '../../test/harness/engines/queued-engine.ts'
import { createManualClock } from '../../test/harness/manual-clock.ts'
import { ApiError } from '../core/error.ts'
import { leastRequest } from '../core/least-request.ts'
import { modelIds } from '../core/model.ts'
import { FakeEngine, type FakeEngineOptions, type FakeStep } from '../engines/fake/fake-engine.ts'
import { createCatalog } from '../models/catalog.ts'
import { describeServedModel } from '../models/served-models.ts'
import { askCanary, canaryMsMax, type CanaryParts } from './canary.ts'

const hello: FakeStep = { kind: 'block', block: { kind: 'text' }, texts: ['a'] }
const end: FakeStep = { kind: 'end', reason: { kind: 'length' } }
const waiting: FakeStep = { kind: 'wait', ms: 60_000 }

function partsFor(options: FakeEngineOptions, changes: Partial<CanaryParts> = {}) {
  const { engine, queue } = queueEngine(new FakeEngine({ slots: 1, ...options }))
  const settings = { thinking: 'off', outputTokensMax: 100 } as const
  const catalog = createCatalog(modelIds.map((id) => ({ model: describeServedModel(id, settings), engine, queue })))
  const ledger = { append: () => Promise.reject(new Error('a canary has no row')), requireWritable: () => {} }
  const clock = createManualClock()
  return { parts: { catalog, ledger, clock, areKeysChecked: () => true, ...changes }, clock, queue, engine }
}

test('a model that makes a token has answered, and the slot is free again', async () => {
  const { parts, queue } = partsFor({ script: () => [hello, end] })
  equal(await askCanary(parts, 'hal-1.0'), 'answered')
  equal(queue.running + queue.waiting, 0)
})

test('a model that fails says with what', async () => {
  const error = new ApiError({ code: 'engine-failed' }, 'crashed')
  equal(await askCanary(partsFor({ script: () => [{ kind: 'fail', error }] }).parts, 'hal-1.0'), 'engine-failed')
  const bug = new Error('a bug')
  equal(await askCanary(partsFor({ script: () => [{ kind: 'fail', error: bug }] }).parts, 'hal-1.0'), 'internal')
})

test('a model that does not answer in time is told from one that is busy with others', async () => {
  const { parts, clock, queue } = partsFor({ script: () => [waiting, end] })
  const slow = askCanary(parts, 'hal-1.0')
  await new Promise((resolve) => setTimeout(resolve, 20))
  clock.advance(canaryMsMax)
  equal(await slow, 'no-answer')
  const other = queue.enqueue(leastRequest('somebody else'))
  await queue.slot(other, 10)
  const behind = askCanary(parts, 'hal-1.0')
  await new Promise((resolve) => setTimeout(resolve, 20))
  clock.advance(canaryMsMax)
  equal(await behind, 'busy')
  queue.leave(other)
})

test('where nothing can be recorded or no key checked, nobody would be answered', async () => {
  const overloaded = new ApiError({ code: 'overloaded', retryAfterMs: 1 }, 'the disk is full')
  const requireWritable = () => {
    throw overloaded
  }
  const ledger = { append: () => Promise.resolve(), requireWritable }
  equal(await askCanary(partsFor({}, { ledger }).parts, 'hal-1.0'), 'overloaded')
  equal(await askCanary(partsFor({}, { areKeysChecked: () => false }).parts, 'hal-1.0'), 'overloaded')
})
