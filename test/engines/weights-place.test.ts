// Weights that the processor computes with lie in memory of the engine's own where there is room, and in their file elsewhere.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { after, describe, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { collect } from '../../src/core/collect.ts'
import { runAlone } from '../../src/core/engine.ts'
import type { LlamaEngine, LlamaEngineOptions } from '../../src/engines/llama/llama-engine.ts'
import { WeightsPlace } from '../../src/engines/llama/weights-place.ts'
import { user } from '../harness/engines/ask-engine.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { placeholderPath } from '../harness/engines/placeholder-path.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'

const onLinux = process.platform === 'linux'

test('weights are copied where as much memory again is left to them, and where no child ended while it loaded them', () => {
  const place = new WeightsPlace()
  equal(place.isCopy(1_000, 5_000, 2_000), onLinux)
  equal(place.isCopy(1_000, 5_000, 1_999), false)
  equal(place.isCopy(1_000, 1_999, 5_000), false)
  place.ruleOut()
  equal(place.isCopy(1_000, 1_000_000, 1_000_000), false)
})

describe('an engine', { skip: !onLinux && 'its memory is looked at as Linux tells it' }, () => {
  const engines: LlamaEngine[] = []
  after(() => Promise.all(engines.map((engine) => engine.close())))

  function open(options: Partial<LlamaEngineOptions>): LlamaEngine {
    const engine = openLlama({}, { confinement: 'off', ...options })
    engines.push(engine)
    return engine
  }
  async function openReady(): Promise<LlamaEngine> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const engine = open({ onReady: () => resolve() })
    await promise
    return engine
  }
  /** One whose first child ends before it is ready; on a busy machine another one has to be tried for that. */
  async function openKilled(): Promise<LlamaEngine> {
    const seen: ('ready' | 'ended')[] = []
    const engine = open({ onReady: () => seen.push('ready'), onExit: () => seen.push('ended') })
    while (engine.pid === null) await setImmediate()
    process.kill(engine.pid, 'SIGKILL')
    await until(() => seen.includes('ended') && seen.at(-1) === 'ready', 'No second child is ready.', 120_000)
    return seen[0] === 'ended' ? engine : openKilled()
  }
  const mapsOf = ({ pid }: LlamaEngine) => readFileSync(`/proc/${pid}/maps`, 'utf8')
  const answer = async (engine: LlamaEngine) => {
    const request = engineRequest({ messages: [user('Say a word.')], sampling: withSeed(1, 0), outputTokensMax: 24 })
    return (await collect(runAlone(engine, request, new AbortController().signal))).blocks
  }

  test('has its weights in large pages of its own', async () => {
    const engine = await openReady()
    ok(!mapsOf(engine).includes(placeholderPath))
    const isMarked = /^VmFlags:.* hg\b/m.test(readFileSync(`/proc/${engine.pid}/smaps`, 'utf8'))
    equal(isMarked, hasToAsk())
  })

  test('whose child ended while it loaded maps them the next time, and answers the same', async () => {
    const engine = await openKilled()
    ok(mapsOf(engine).includes(placeholderPath))
    const [copying] = engines
    ok(copying !== undefined)
    deepEqual(await answer(engine), await answer(copying))
  })
})

/** Whether large pages are for who asks, which the C library does from 2.35 on. */
function hasToAsk(): boolean {
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } }
  const [, minor = 0] = (header.glibcVersionRuntime ?? '').split('.').map(Number)
  const path = '/sys/kernel/mm/transparent_hugepage/enabled'
  return minor >= 35 && existsSync(path) && readFileSync(path, 'utf8').includes('[madvise]')
}
