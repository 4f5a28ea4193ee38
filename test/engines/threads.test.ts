import { deepEqual, equal, ok } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { collect } from '../../src/core/collect.ts'
import { runAlone } from '../../src/core/engine.ts'
import { loadNative, type NativeContext } from '../../src/engines/llama/child/native.ts'
import { StepThreads } from '../../src/engines/llama/child/threads/step-threads.ts'
import { usableProcessors } from '../../src/engines/llama/child/threads/usable-processors.ts'
import { precedingPriority, threadsOf } from '../../src/lib/system/processor-priority.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { engineRequest } from '../harness/requests.ts'

const starterPath = fileURLToPath(new URL('../../weights/starter.gguf', import.meta.url))

/** What the library has, read back from it. */
async function threadsWith(threads: number | null): Promise<number> {
  const ready = Promise.withResolvers<number>()
  const engine = openLlama({ weightsPath: starterPath, threads }, { onReady: (told) => ready.resolve(told.threads) })
  try {
    return await ready.promise
  } finally {
    await engine.close()
  }
}

test('the library is never given more threads than there are processors', async () => {
  for (const wanted of [null, 1_024]) {
    const threads = await threadsWith(wanted)
    ok(threads >= 1 && threads <= usableProcessors(), `${wanted} gave ${threads} threads`)
  }
})

test('steps are computed by one thread of the pool', { skip: process.platform !== 'linux' }, async () => {
  const ready = Promise.withResolvers<void>()
  const engine = openLlama({}, { onReady: () => ready.resolve() })
  try {
    await ready.promise
    const tasks = `/proc/${engine.pid}/task`
    const names = readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/comm`, 'utf8').trim())
    equal(names.filter((name) => name === 'libuv-worker').length, 1)
  } finally {
    await engine.close()
  }
})

test('an engine that is to precede other programs does so in every thread, or says that it may not', async () => {
  const ready = Promise.withResolvers<void>()
  let isRefused = false
  const precedence = { onRefused: () => void (isRefused = true) }
  const engine = openLlama({}, { precedence, onReady: () => ready.resolve() })
  try {
    await ready.promise
    await collect(runAlone(engine, engineRequest({ outputTokensMax: 4 }), new AbortController().signal))
    const priorities = threadsOf(engine.pid ?? 0).map((thread) => getPriority(thread))
    deepEqual(new Set(priorities), new Set([isRefused ? 0 : precedingPriority]))
  } finally {
    await engine.close()
  }
})

test('the library gets other numbers of threads between two steps', { skip: usableProcessors() < 2 }, async () => {
  const { context, threads, adaptsThreads } = await loadNative({
    weightsPath: starterPath,
    gpu: 'off',
    slots: 1,
    windowTokensMax: 1_024,
    threads: 2,
    batchTokens: 64,
    isReproducible: false,
    draftTokensMax: 0,
    cacheBytesMax: 0,
    cacheOnDisk: null,
  })
  deepEqual([threads, adaptsThreads, context.getThreads()], [{ first: 2, most: 2 }, true, 2])
  const steps = new StepThreads(context, threads, adaptsThreads)
  // To the kernel's accounting a step that waits is one whose processors somebody else has.
  const heldUp = async () => void (await Promise.all([decodeOne(context, 0), setTimeout(300)]))
  await steps.run('answers', 1, heldUp)
  await steps.run('answers', 1, () => decodeOne(context, 1))
  equal(context.getThreads(), 1)
})

async function decodeOne(context: NativeContext, position: number): Promise<void> {
  context.initBatch(1)
  context.addToBatch(0, position, Uint32Array.of(1), Uint32Array.of(0))
  await context.decodeBatch()
}
