// What sampling costs: the same steps with the likeliest token chosen, and by chance with settings that clients send.

import { parseArgs } from 'node:util'
import type { EngineRequest } from '../../src/core/generation.ts'
import { DecodeLoop } from '../../src/engines/llama/child/decode-loop.ts'
import { createTask } from '../../src/engines/llama/child/task.ts'
import { emptyCache, freePlan, openLane } from '../../test/harness/engines/open-lane.ts'
import { engineRequest, withSeed } from '../../test/harness/requests.ts'
import { wholeNumber } from '../whole-number.ts'

const kinds: Readonly<Record<string, Partial<EngineRequest['sampling']>>> = {
  greedy: { temperature: 0 },
  'temperature 1': {},
  'top_p 0.9': { topP: 0.9 },
  'top_p and penalties': { topP: 0.9, presencePenalty: 0.5, frequencyPenalty: 0.5 },
}

const type = 'string'
const { values } = parseArgs({ options: { weights: { type }, answer: { type }, rounds: { type } } })
if (values.weights === undefined) throw new Error('--weights FILE is missing.')
const answerTokens = wholeNumber('answer', values.answer, 32)
const rounds = wholeNumber('rounds', values.rounds, 7)

let finished = Promise.withResolvers<void>()
const settings = { weightsPath: values.weights, threads: 1, batchTokens: 512 }
const { native, prompts, context } = await openLane((one) => one, settings)
const loop = new DecodeLoop(native, emptyCache(native), {
  events(batch) {
    for (const [id, { type: kind }] of batch) {
      loop.taken(id, 1)
      if (kind === 'finish') finished.resolve()
    }
  },
  nearlyUsed() {},
  aborted() {},
  failed: (_, error) => finished.reject(error),
})
loop.run().catch((error: unknown) => finished.reject(error))

/** Milliseconds of a token of an answer by the clock and by processor time, its prompt included. */
async function measure(id: number, sampling: Partial<EngineRequest['sampling']>) {
  const text = 'Tell a long story about the sea.'
  const request = engineRequest({
    messages: [{ role: 'user', content: [{ kind: 'text', text }] }],
    outputTokensMin: answerTokens,
    outputTokensMax: answerTokens,
    sampling: { ...withSeed(id, 1), ...sampling },
  })
  const task = createTask(id, { request, prompt: await prompts.build(request), plan: freePlan }, context)
  finished = Promise.withResolvers()
  const [fromMs, used] = [performance.now(), process.cpuUsage()]
  loop.submit(task)
  await finished.promise
  const { user, system } = process.cpuUsage(used)
  return { clock: (performance.now() - fromMs) / answerTokens, processor: (user + system) / 1_000 / answerTokens }
}

const measured = new Map(Object.keys(kinds).map((name) => [name, [] as Awaited<ReturnType<typeof measure>>[]]))
await measure(1, {})
for (let round = 0, id = 2; round < rounds; round++)
  for (const [name, sampling] of Object.entries(kinds)) measured.get(name)?.push(await measure(id++, sampling))

console.log(`${native.vocabularySize} tokens in the vocabulary, ${answerTokens} tokens an answer, ${rounds} rounds`)
console.log('| Sampling | ms a token | processor ms a token | processor time / greedy |\n| - | -: | -: | -: |')
const greedy = measured.get('greedy') ?? []
for (const [name, readings] of measured) {
  const ratios = readings.map(({ processor }, round) => processor / (greedy[round]?.processor ?? Number.NaN))
  const columns = [readings.map(({ clock }) => clock), readings.map(({ processor }) => processor), ratios]
  console.log(`| ${name} | ${columns.map((column) => median(column).toFixed(2)).join(' | ')} |`)
}
process.exit(0)

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN
}
