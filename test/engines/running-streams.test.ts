// A long prompt beside answers that are being written: told by what each step contains, and not by a clock.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { suite, test } from 'node:test'
import { DecodeLoop } from '../../src/engines/llama/child/decode-loop.ts'
import type { Native } from '../../src/engines/llama/child/native.ts'
import { createTask, type Task } from '../../src/engines/llama/child/task.ts'
import { owner, user } from '../harness/engines/ask-engine.ts'
import { emptyCache, freePlan, openLane, type Lane } from '../harness/engines/open-lane.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'

const streams = 4
const settings = { slots: streams + 1, windowTokensMax: 32_768, batchTokens: 512 }

/** How many tokens of each slot a step contains. */
type Step = ReadonlyMap<number, number>

/** Notes what each step contains. */
function recorder() {
  const steps: Step[] = []
  let step = new Map<number, number>()
  const change = (native: Native): Native => ({
    ...native,
    context: {
      ...native.context,
      initBatch(size) {
        step = new Map()
        native.context.initBatch(size)
      },
      addToBatch(slot, position, tokens, logitAt) {
        step.set(slot, (step.get(slot) ?? 0) + tokens.length)
        return native.context.addToBatch(slot, position, tokens, logitAt)
      },
      decodeBatch() {
        steps.push(step)
        return native.context.decodeBatch()
      },
    },
  })
  return { steps, change }
}

/** The most steps in a row in which a stream got no token. */
function longestGap(steps: readonly Step[], slot: number): number {
  let longest = 0
  let gap = 0
  for (const step of steps) {
    gap = step.has(slot) ? 0 : gap + 1
    longest = Math.max(longest, gap)
  }
  return longest
}

async function taskOf(id: number, lane: Lane, text: string): Promise<Task> {
  const request = engineRequest({
    messages: [user(text)],
    ...owner(`org_${id}`),
    sampling: withSeed(id),
    outputTokensMax: 2_000,
    outputTokensMin: 2_000,
  })
  return createTask(id, { request, prompt: await lane.prompts.build(request), plan: freePlan }, lane.context)
}

/** The steps from the first to the last one that computes the long prompt, which has the last slot. */
async function stepsOfLongPrompt(promptTokens: number, isReproducible: boolean): Promise<Step[]> {
  const { steps, change } = recorder()
  const lane = await openLane(change, { ...settings, isReproducible })
  const lastId = streams + 1
  let hasEnded = false
  const written = new Map<number, number>()
  const loop = new DecodeLoop(lane.native, emptyCache(lane.native), {
    events(batch) {
      for (const [id, event] of batch) {
        loop.taken(id, 1)
        if (event.type === 'delta') written.set(id, (written.get(id) ?? 0) + 1)
        if (event.type === 'finish') hasEnded = true
      }
    },
    nearlyUsed() {},
    aborted: () => {},
    failed: () => (hasEnded = true),
  })
  loop.run().catch(() => (hasEnded = true))
  for (let id = 1; id <= streams; id += 1) loop.submit(await taskOf(id, lane, `Tell me story ${id}.`))
  await until(() => written.size === streams, 'The streams do not begin.')
  const task = await taskOf(lastId, lane, `What is this? ${'word '.repeat(promptTokens)}`)
  ok(task.prompt.tokens.length >= promptTokens, `${task.prompt.tokens.length} tokens`)
  const before = steps.length
  loop.submit(task)
  await until(() => written.has(lastId) || hasEnded, 'The long prompt is not computed.', 300_000)
  equal(hasEnded, false, 'something ended before the long prompt was computed')
  for (let id = 1; id <= lastId; id += 1) loop.abort(id)
  await until(() => !loop.isBusy, 'The loop does not stop.')
  const slot = settings.slots - 1
  const computes = steps.map((step, index) => index >= before && (step.get(slot) ?? 0) > 1)
  const found = steps.slice(computes.indexOf(true), computes.lastIndexOf(true) + 1)
  equal(
    found.reduce((sum, step) => sum + (step.get(slot) ?? 0), 0),
    task.prompt.tokens.length,
  )
  return found
}

suite('a long prompt', () => {
  test('a prompt of 12,000 tokens leaves every running answer its token in each step', async () => {
    const steps = await stepsOfLongPrompt(12_000, false)
    ok(steps.length >= 12_000 / settings.batchTokens, `${steps.length} steps`)
    const gaps = Array.from({ length: streams }, (_, slot) => longestGap(steps, slot))
    deepEqual(gaps, [0, 0, 0, 0])
  })

  test('lets them wait where tasks take turns, which the same count finds', async () => {
    const steps = await stepsOfLongPrompt(3_000, true)
    equal(longestGap(steps, 0), streams)
  })
})
