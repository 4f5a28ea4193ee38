import { deepEqual, equal, ok } from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { DecodeLoop, type DecodeLoopOutput } from '../../src/engines/llama/child/decode-loop.ts'
import { createTask } from '../../src/engines/llama/child/task.ts'
import { poolSizeVariable } from '../../src/engines/llama/child/threads/pool-threads.ts'
import { usableProcessors } from '../../src/engines/llama/child/threads/usable-processors.ts'
import { launchChild } from '../../src/engines/llama/launch-child.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { emptyCache, freePlan, openLane } from '../harness/engines/open-lane.ts'
import { engineRequest } from '../harness/requests.ts'

const entry = new URL('../harness/engines/held-pool-child.ts', import.meta.url)
const isLinux = process.platform === 'linux'

/** How many threads take part after each of these was asked for. */
async function threadsTakingPart(child: ChildProcess, asked: readonly number[]): Promise<unknown[]> {
  equal((await once(child, 'message'))[0], 'begun')
  const taking: unknown[] = []
  for (const threads of asked) {
    child.send(threads)
    taking.push((await once(child, 'message'))[0])
  }
  return taking
}

test('as many threads of the pool take part as are asked for, one at least', { skip: !isLinux }, async () => {
  const child = fork(entry, { env: { ...process.env, [poolSizeVariable]: '4' } })
  const asked = [1, 3, 2, 4, 9, 0]
  deepEqual(await threadsTakingPart(child, asked), [1, 3, 2, 4, 4, 1])
  child.send('end')
  deepEqual(await once(child, 'exit'), [0, null])
})

test("a confined child beside a card holds its pool's threads too", { skip: !isLinux }, async () => {
  const { process: child, ended } = launchChild(entry, {
    weightsPaths: [],
    cacheFolder: null,
    usesDevices: true,
    drivesNvidia: true,
    environment: { PATH: process.env['PATH'] ?? '' },
    confinement: 'require',
    memoryBytesMax: 1024 ** 3,
    clock: systemClock,
    onConfined() {},
  })
  const threads = Math.min(8, usableProcessors())
  deepEqual(await threadsTakingPart(child, [1, 8, 1]), [1, threads, 1])
  child.disconnect()
  child.kill('SIGKILL')
  await ended
})

test('as many threads are asked for as answers that choose a token', async () => {
  const lane = await openLane()
  const asked: number[] = []
  let running = 0
  const over = Promise.withResolvers<void>()
  const output: DecodeLoopOutput = {
    events(batch) {
      for (const [id, { type }] of batch) {
        loop.taken(id, 1)
        if (type === 'finish' && --running === 0) over.resolve()
      }
    },
    nearlyUsed() {},
    aborted() {},
    failed: (_, error) => over.reject(error),
  }
  const loop = new DecodeLoop(lane.native, emptyCache(lane.native), output, { open: (threads) => asked.push(threads) })
  for (const [id, tokens] of [4, 16].entries()) {
    const request = engineRequest({ outputTokensMin: tokens, outputTokensMax: tokens })
    const task = createTask(id, { request, prompt: await lane.prompts.build(request), plan: freePlan }, lane.context)
    running += 1
    loop.submit(task)
  }
  loop.run().catch(over.reject)
  await over.promise
  ok(asked.includes(2), JSON.stringify(asked))
  equal(asked.at(-1), 1)
})
