import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { before, test } from 'node:test'
import { checkStream } from '../../src/core/check-stream.ts'
import { collect } from '../../src/core/collect.ts'
import type { GenerationEvent } from '../../src/core/generation.ts'
import type { AnswerPlan } from '../../src/engines/text/prepared-text.ts'
import { DecodeLoop } from '../../src/engines/llama/child/decode-loop.ts'
import type { Native, NativeSampler } from '../../src/engines/llama/child/native.ts'
import type { PromptBuilder } from '../../src/engines/text/prompt/prompt-builder.ts'
import { createTask, type Task, type TaskContext } from '../../src/engines/llama/child/task.ts'
import { emptyCache, freePlan, openLane } from '../harness/engines/open-lane.ts'
import { engineRequest, withSeed } from '../harness/requests.ts'
import { until } from '../harness/start-service.ts'

// Nothing a client can send makes sampling fail, as far as is known. So the
// decode loop is run here by itself, on real weights, and told to fail.

const tokensPerAnswer = 60

let native: Native
let prompts: PromptBuilder
let context: TaskContext
/** Samplers that fail from their so many-eth token on. */
const failing = new Map<NativeSampler, number>()

before(async () => {
  const failable = (loaded: Native): Native => {
    return { ...loaded, context: { ...loaded.context, sampleToken: (...asked) => sampleOrFail(loaded, ...asked) } }
  }
  const lane = await openLane(failable)
  native = lane.native
  prompts = lane.prompts
  context = lane.context
})

function sampleOrFail(loaded: Native, ...asked: Parameters<Native['context']['sampleToken']>): Promise<number> {
  const [, sampler] = asked
  const left = failing.get(sampler)
  if (left === 0) return Promise.reject(new Error('no token can be chosen'))
  if (left !== undefined) failing.set(sampler, left - 1)
  return loaded.context.sampleToken(...asked)
}

/** Runs tasks on a loop of their own; each is over once it has finished or failed. */
async function run(tasks: readonly Task[], lane: Native = native) {
  const events = new Map<number, GenerationEvent[]>(tasks.map(({ id }) => [id, []]))
  const failures: { readonly id: number; readonly message: string }[] = []
  const loop = new DecodeLoop(lane, emptyCache(lane), {
    events(batch) {
      for (const [id, event] of batch) {
        events.get(id)?.push(event)
        loop.taken(id, 1)
      }
    },
    nearlyUsed() {},
    aborted: () => assert.fail('Nothing was aborted.'),
    failed: (id, error) => failures.push({ id, message: String(error) }),
  })
  let crash: unknown = null
  loop.run().catch((error: unknown) => (crash = error ?? 'crashed'))
  for (const task of tasks) loop.submit(task)
  const isOver = (id: number) =>
    events.get(id)?.at(-1)?.type === 'finish' || failures.some((failure) => failure.id === id)
  await until(() => crash !== null || tasks.every(({ id }) => isOver(id)), 'Some answer never ended.')
  assert.equal(crash, null, 'the loop itself has failed')
  return { events, failures }
}

async function plain(id: number, within: TaskContext = context, planned: AnswerPlan = freePlan): Promise<Task> {
  const outputs = { outputTokensMin: tokensPerAnswer, outputTokensMax: tokensPerAnswer }
  const request = engineRequest({ sampling: withSeed(7, 0), ...outputs })
  return createTask(id, { request, prompt: await prompts.build(request), plan: planned }, within)
}

/** One whose sampling fails after so many tokens. */
async function broken(id: number, tokens: number, lane: Native = native): Promise<Task> {
  const takeSampler = () => {
    const sampler = native.takeSampler()
    failing.set(sampler, tokens)
    return sampler
  }
  return plain(id, { ...context, native: { ...lane, takeSampler } })
}

test('an answer whose sampling fails ends alone; one in the same batch and one that waits go on to their ends', async () => {
  const { events, failures } = await run([await plain(1), await broken(2, 20), await plain(3)])
  assert.deepEqual(failures, [{ id: 2, message: 'Error: no token can be chosen' }])
  for (const id of [1, 3]) {
    const own = events.get(id) ?? []
    const { blocks, reason, usage } = await collect(checkStream(Readable.from(own)))
    assert.deepEqual([blocks.length, reason.kind, usage.output], [1, 'length', tokensPerAnswer])
  }
  assert.notEqual(events.get(2)?.at(-1)?.type, 'finish')
})

test('an answer that fails has been handed on up to the token that could not be chosen', async () => {
  const { events } = await run([await broken(1, 20)])
  const tokens = (events.get(1) ?? []).map((event) => (event.type === 'delta' ? event.tokens : 0))
  assert.equal(
    tokens.reduce((sum, made) => sum + made, 0),
    20,
  )
})

test('the words of an answer are the same beside one that fails', async () => {
  const lane = { ...native, isReproducible: true }
  const inLane = { ...context, native: lane }
  const alone = await run([await plain(1, inLane)], lane)
  const beside = await run([await broken(2, 5, lane), await plain(1, inLane), await broken(3, 30, lane)], lane)
  assert.deepEqual(
    beside.failures.map(({ id }) => id),
    [2, 3],
  )
  assert.deepEqual(beside.events.get(1), alone.events.get(1))
})

test('an answer that cannot begin gives its slot to the next', async () => {
  const hopeless = await Promise.all(
    [2, 3, 4].map((id) => plain(id, context, { ...freePlan, forced: 'root ::= nothing' })),
  )
  const { events, failures } = await run([...hopeless, await plain(1)])
  assert.deepEqual(
    failures.map(({ id }) => id),
    [2, 3, 4],
  )
  assert.equal(events.get(1)?.at(-1)?.type, 'finish')
})
