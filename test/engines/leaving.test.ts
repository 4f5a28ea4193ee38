// A client that leaves costs nobody else anything, whatever the engine is doing at that moment.

import { runAlone } from '../../src/core/engine.ts'
import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { test } from 'node:test'
import { collect } from '../../src/core/collect.ts'
import { GenerationAborted, type Usage } from '../../src/core/generation.ts'
import { DecodeLoop } from '../../src/engines/llama/child/decode-loop.ts'
import type { Native } from '../../src/engines/llama/child/native.ts'
import { createTask } from '../../src/engines/llama/child/task.ts'
import { longPrompt } from '../harness/engines/ask-engine.ts'
import { emptyCache, freePlan, openLane } from '../harness/engines/open-lane.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'

test('an engine that is slow to confirm an abort is not killed, and other answers go on', async (t) => {
  const engine = openLlama()
  t.after(() => engine.close())
  const never = new AbortController().signal
  await collect(runAlone(engine, engineRequest(), never))
  const { pid } = engine
  ok(pid !== null)
  const other = collect(runAlone(engine, engineRequest({ sampling: withSeed(1, 0), outputTokensMax: 200 }), never))
  const leaving = new AbortController()
  const left = rejects(
    collect(runAlone(engine, engineRequest(longPrompt(1, 4_000)), leaving.signal)),
    GenerationAborted,
  )
  await until(() => engine.status().running > 0, 'Nothing is under way.', 60_000)
  // As long as a step of large weights takes on a slow machine.
  process.kill(pid, 'SIGSTOP')
  leaving.abort()
  await setTimeout(3_500)
  process.kill(pid, 'SIGCONT')
  await left
  const { blocks } = await other
  ok(blocks.length > 0)
  equal(engine.pid, pid)
})

test('an abort is confirmed while a step is decoded, and nothing that the step makes is counted', async () => {
  const step = Promise.withResolvers<void>()
  let decoding = 0
  const lane = await openLane((native): Native => ({
    ...native,
    context: {
      ...native.context,
      async decodeBatch() {
        decoding += 1
        if (decoding === 2) await step.promise
        await native.context.decodeBatch()
      },
    },
  }))
  const aborted: Usage[] = []
  let events = 0
  const loop = new DecodeLoop(lane.native, emptyCache(lane.native), {
    events: (batch) => (events += batch.length),
    nearlyUsed() {},
    aborted: (_id, usage) => aborted.push(usage),
    failed: (_id, error) => {
      throw error
    },
  })
  loop.run().catch(() => {})
  const request = engineRequest({ outputTokensMax: 50, sampling: withSeed(1, 0) })
  const prompt = await lane.prompts.build(request)
  loop.submit(createTask(1, { request, prompt, plan: freePlan }, lane.context))
  await until(() => decoding === 2, 'The second step does not begin.')
  loop.abort(1)
  loop.abort(1)
  equal(aborted.length, 1)
  const eventsAtAbort = events
  step.resolve()
  await until(() => !loop.isBusy, 'The slot does not become free.')
  await setTimeout(50)
  deepEqual([aborted.length, events], [1, eventsAtAbort])
})
