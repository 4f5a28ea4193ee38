import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { DecodeLoop } from '../../src/engines/llama/child/decode-loop.ts'
import { createTask } from '../../src/engines/llama/child/task.ts'
import { emptyCache, freePlan, openLane } from '../harness/engines/open-lane.ts'
import { engineRequest } from '../harness/requests.ts'

const stepMs = 25

test('what a step made is handed on while the library computes the next one', async () => {
  let isComputing = false
  const lane = await openLane((native) => ({
    ...native,
    context: {
      ...native.context,
      async decodeBatch() {
        isComputing = true
        await native.context.decodeBatch()
        // What quicker steps make is handed on together.
        await setTimeout(stepMs)
        isComputing = false
      },
    },
  }))
  const handedOn: { readonly types: readonly string[]; readonly isComputing: boolean }[] = []
  const finished = Promise.withResolvers<void>()
  const loop = new DecodeLoop(lane.native, emptyCache(lane.native), {
    events(batch) {
      const types = batch.map(([, { type }]) => type)
      handedOn.push({ types, isComputing })
      loop.taken(1, batch.length)
      if (types.includes('finish')) finished.resolve()
    },
    nearlyUsed() {},
    aborted() {},
    failed: (_, error) => finished.reject(error),
  })
  loop.run().catch(finished.reject)
  const request = engineRequest({ outputTokensMin: 8, outputTokensMax: 8 })
  loop.submit(createTask(1, { request, prompt: await lane.prompts.build(request), plan: freePlan }, lane.context))
  await finished.promise
  const last = handedOn.pop()
  deepEqual(last?.isComputing, false)
  ok(handedOn.length > 2 && handedOn.every((one) => one.isComputing), JSON.stringify(handedOn))
})
