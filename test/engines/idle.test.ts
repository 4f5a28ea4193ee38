// Weights that nobody asks for are unloaded, and whoever asks for them next notices no more than a wait.

import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, test } from 'node:test'
import { collect } from '../../src/core/collect.ts'
import { countTokens, runAlone } from '../../src/core/engine.ts'
import type { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { isRunning } from '../campaigns/processes.ts'
import { user } from '../harness/engines/ask-engine.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { ask, bodyFor, paths } from '../harness/http/ask.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'
import { startService, until, type Service } from '../harness/start-service.ts'

const never = new AbortController().signal
const folder = mkdtempSync(join(tmpdir(), 'odyssey-idle-'))
after(() => rmSync(folder, { recursive: true }))

const asleep = (engine: LlamaEngine) => () => engine.status().state === 'asleep' && engine.pid === null
const untilAsleep = (engine: LlamaEngine) => until(asleep(engine), 'The engine is not asleep.', 120_000)
const greedy = withSeed(1, 0)

/** As long as no request is under way, and longer than it takes to notice what happens in between. */
const idleMsMax = 300

describe('an engine that nobody asks', () => {
  const exits: string[] = []
  let engine: LlamaEngine

  before(() => {
    engine = openLlama({}, { idleMsMax, onExit: (reason) => exits.push(reason) })
  })
  after(() => engine.close())

  it('is asleep when it has loaded its weights and nobody came', async () => {
    await untilAsleep(engine)
  })

  it('answers as before when it is woken, in another process', async () => {
    const request = () => engineRequest({ messages: [user('Say a word.')], sampling: greedy, outputTokensMax: 12 })
    const first = await collect(runAlone(engine, request(), never))
    const { pid } = engine
    await untilAsleep(engine)
    const again = await collect(runAlone(engine, request(), never))
    deepEqual(again.blocks, first.blocks)
    notEqual(engine.pid, pid)
  })

  it('keeps what it is known by, so that requests are admitted as if it were ready', async () => {
    await untilAsleep(engine)
    const { windowTokens, slots } = engine.status()
    ok((windowTokens ?? 0) > 0 && (slots ?? 0) > 0)
  })

  it('has no process left, also of those for texts', async () => {
    const long = engineRequest({ messages: [user('A long text. '.repeat(1_000))], outputTokensMax: 1 })
    await collect(runAlone(engine, long, never))
    await countTokens(engine, long, never)
    const pids = [engine.pid, engine.textPid, engine.countPid]
    ok(pids.every((pid) => pid !== null))
    await untilAsleep(engine)
    await until(() => pids.every((pid) => !isRunning(pid ?? 0)), 'A process is left.', 60_000)
  })

  it('is woken by a count as well', async () => {
    await untilAsleep(engine)
    ok((await countTokens(engine, engineRequest(), never)) > 0)
  })

  it('was at no time said to have failed', () => deepEqual(exits, []))
})

test('an answer under way keeps the weights, however long it takes', async () => {
  const engine = openLlama({}, { idleMsMax: 50 })
  const pids = new Set<number | null>()
  const request = engineRequest({ messages: [user('Say much.')], outputTokensMax: 400 })
  for await (const event of runAlone(engine, request, never)) if (event.type === 'delta') pids.add(engine.pid)
  equal(pids.size, 1)
  await untilAsleep(engine)
  await engine.close()
})

test('who comes while the prompts are still saved is answered, by weights that are loaded once those are', async () => {
  const cacheOnDisk = { folder: join(folder, 'cache'), bytesMax: 1e9, key: Buffer.alloc(32, 1) }
  const engine = openLlama({ cacheOnDisk, cacheBytesMax: 1e9 }, { idleMsMax: 100 })
  const request = () => engineRequest({ messages: [user('Much to keep. '.repeat(200))], outputTokensMax: 2 })
  await collect(runAlone(engine, request(), never))
  await until(() => engine.status().state === 'asleep', 'The engine is not asleep.', 60_000)
  const answered = await collect(runAlone(engine, request(), never))
  equal(answered.reason.kind, 'length')
  await engine.close()
})

test('an engine that is asleep can be closed', async () => {
  const engine = openLlama({}, { idleMsMax: 10 })
  await untilAsleep(engine)
  await engine.close()
  equal(engine.status().state, 'closed')
})

describe('a service whose weights sleep', () => {
  let service: Service
  before(async () => {
    service = await startService({ config: { engine: { idleSecondsMax: 1 }, availability: { canary: 'on' } } })
    const states = async () => JSON.stringify(await (await fetch(`${service.address}/readyz`)).json())
    await until(async () => (await states()).includes('asleep'), 'No model is asleep.', 120_000)
  })
  after(() => service.stop())

  it('is ready', async () => {
    equal((await fetch(`${service.address}/readyz`)).status, 200)
  })

  it('answers the next request', async () => {
    const { status, text } = await ask(service, paths.chat, { body: bodyFor('chat', { model: 'hal-1.0' }) })
    equal(status, 200, text)
  })
})
