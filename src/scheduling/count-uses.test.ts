import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineRequest } from '../../test/harness/requests.ts'
import { FakeEngine } from '../engines/fake/fake-engine.ts'
import { countUses } from './count-uses.ts'

const never = new AbortController().signal

test('an engine is in use from the first question for an event to the end of the stream, however it ends', async () => {
  const engine = countUses(new FakeEngine())
  const [read, left, unread] = [1, 2, 3].map(() => engine.generate(engineRequest(), never)[Symbol.asyncIterator]())
  assert.equal(engine.uses, 0)
  await read?.next()
  await left?.next()
  assert.equal(engine.uses, 2)
  let isUnused = false
  const unused = engine.whenUnused().then(() => (isUnused = true))
  await left?.return?.()
  while ((await read?.next())?.done !== true) assert.equal(isUnused, false)
  await unused
  await unread?.return?.()
  assert.equal(engine.uses, 0)
  await engine.whenUnused()
})

test('a failing generation and a count give their use back', async () => {
  const engine = countUses(new FakeEngine({ script: () => [{ kind: 'fail', error: new Error('broken') }] }))
  await assert.rejects(Array.fromAsync(engine.generate(engineRequest(), never)))
  assert.equal(await engine.countTokens(engineRequest(), never), 10)
  assert.equal(engine.uses, 0)
})
