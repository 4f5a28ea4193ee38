// What comes while the decode loop brings a prompt into its slot, when there is nobody at rest to be woken.

import { deepEqual, equal } from 'node:assert/strict'
import { before, test } from 'node:test'
import { DecodeLoop } from '../../src/engines/llama/child/decode-loop.ts'
import type { PromptCache } from '../../src/engines/llama/child/prompt-cache/prompt-cache.ts'
import { createTask, type Task } from '../../src/engines/llama/child/task.ts'
import { emptyCache, freePlan, openLane, type Lane } from '../harness/engines/open-lane.ts'
import { engineRequest } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'

let lane: Lane

before(async () => {
  lane = await openLane()
})

async function task(id: number): Promise<Task> {
  const request = engineRequest({ outputTokensMax: 2 })
  return createTask(id, { request, prompt: await lane.prompts.build(request), plan: freePlan }, lane.context)
}

/** A loop whose first prompt stays on its way into a slot until it is let in. */
function startLoop() {
  const cache: PromptCache = emptyCache(lane.native)
  const place = cache.place.bind(cache)
  const arrival = Promise.withResolvers<void>()
  let arriving = 0
  cache.place = async (...asked) => {
    arriving += 1
    await arrival.promise
    return place(...asked)
  }
  const over: string[] = []
  const loop = new DecodeLoop(lane.native, cache, {
    events(batch) {
      for (const [id, event] of batch) {
        if (event.type === 'finish') over.push(`${id} finished`)
        loop.taken(id, 1)
      }
    },
    nearlyUsed() {},
    aborted: (id) => over.push(`${id} aborted`),
    failed: (id) => over.push(`${id} failed`),
  })
  loop.run().catch((error: unknown) => over.push(String(error)))
  return {
    loop,
    over,
    letIn: () => arrival.resolve(),
    untilArriving: () => until(() => arriving > 0, 'Nothing arrives.'),
  }
}

const waitMs = 2_000

test('an answer that is aborted on its way into a slot is over at once', async () => {
  const { loop, over, letIn, untilArriving } = startLoop()
  loop.submit(await task(1))
  await untilArriving()
  loop.abort(1)
  letIn()
  await until(() => over.length > 0, 'The abort is not confirmed.', waitMs)
  deepEqual(over, ['1 aborted'])
  equal(loop.isBusy, false)
})

test('an answer that is asked for meanwhile gets the other slot', async () => {
  const { loop, over, letIn, untilArriving } = startLoop()
  const [first, second] = [await task(1), await task(2)]
  loop.submit(first)
  await untilArriving()
  loop.submit(second)
  loop.abort(1)
  letIn()
  await until(() => over.length === 2, 'One of the answers never ends.', waitMs)
  deepEqual(over.toSorted(), ['1 aborted', '2 finished'])
})

test('an answer that is asked for before the loop rests is begun', async () => {
  const only = await task(1)
  const { loop, over, letIn } = startLoop()
  letIn()
  loop.submit(only)
  await until(() => over.length === 1, 'The answer never begins.', waitMs)
  deepEqual(over, ['1 finished'])
})
