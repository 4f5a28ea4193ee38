// Where a step goes, without a service: computing it, and choosing a token for each sequence by one thread and by several.
//
// The size of Node's pool is set before a process begins: UV_THREADPOOL_SIZE=8 node bin/odyssey.cjs --run ...

import { parseArgs } from 'node:util'
import { holdPoolThreads, poolSize } from '../../src/engines/llama/child/threads/pool-threads.ts'
import type { LogitIndex } from '../../src/engines/llama/child/native.ts'
import { openLane } from '../../test/harness/engines/open-lane.ts'
import { wholeNumber } from '../whole-number.ts'
import { median } from './table.ts'

const type = 'string'
const { values } = parseArgs({ options: { weights: { type }, gpu: { type, default: 'off' }, steps: { type } } })
if (values.weights === undefined) throw new Error('--weights FILE is missing.')
const steps = wholeNumber('steps', values.steps, 90)
const slots = 8
const rounds = 3

const pool = holdPoolThreads()
const settings = {
  weightsPath: values.weights,
  gpu: values.gpu as 'cuda',
  slots,
  windowTokensMax: 4_096,
  threads: null,
}
const { native } = await openLane((one) => one, { ...settings, batchTokens: 512 })
const { context, memory } = native
const samplers = Array.from({ length: slots }, () => native.takeSampler())

type Step = { readonly decodeMs: number; readonly chooseMs: number }

/** Each sequence goes on from its first token, one more token a step. */
async function run(sequences: number, threads: number): Promise<Step[]> {
  for (let slot = 0; slot < slots; slot++) memory.clear(slot)
  pool.open(threads)
  const tokens = Array.from({ length: sequences }, (_, slot) => slot + 5)
  const taken: Step[] = []
  for (let position = 0; position < steps; position++) {
    context.initBatch(sequences)
    const logits = tokens.map((token, slot): LogitIndex => {
      const [logit] = Array.from(context.addToBatch(slot, position, Uint32Array.of(token), Uint32Array.of(0)))
      if (logit === undefined) throw new Error('A token has no logits.')
      return logit
    })
    const startedMs = performance.now()
    await context.decodeBatch()
    const decodedMs = performance.now()
    const chosen = await Promise.all(
      logits.map((logit, slot) => {
        const sampler = samplers[slot]
        if (sampler === undefined) throw new Error('A sequence has no sampler.')
        return context.sampleToken(logit, sampler)
      }),
    )
    taken.push({ decodeMs: decodedMs - startedMs, chooseMs: performance.now() - decodedMs })
    tokens.splice(0, sequences, ...chosen)
  }
  return taken
}

const inPool = poolSize()
console.log(
  `${native.vocabularySize} tokens in the vocabulary, ${inPool} threads in the pool, ${JSON.stringify(native.cards)}`,
)
console.log(
  '| Temperature | Sequences | Threads | Compute, ms | Choose, ms | tokens/s |\n| -: | -: | -: | -: | -: | -: |',
)
for (const temperature of [0, 1]) {
  for (const [seed, sampler] of samplers.entries()) sampler.applyConfig({ temperature, topP: 1, minP: 0, seed })
  for (const sequences of [1, 2, 4, 8]) await compareThreads(temperature, sequences)
}
process.exit(0)

/** The same steps by one thread and by several, in turn. */
async function compareThreads(temperature: number, sequences: number): Promise<void> {
  const several = sequences === 1 ? inPool : Math.min(sequences, inPool)
  const taken = new Map([1, several].map((threads) => [threads, [] as Step[]]))
  for (let round = 0; round < rounds; round++)
    for (const [threads, all] of taken) all.push(...(await run(sequences, threads)).slice(steps / 10))
  for (const [threads, all] of taken) {
    const middle = (of: (step: Step) => number) => median(all.map(of)) ?? Number.NaN
    const perSecond = (sequences * 1_000) / middle((step) => step.decodeMs + step.chooseMs)
    const times = [middle(({ decodeMs }) => decodeMs), middle(({ chooseMs }) => chooseMs)]
    const cells = [temperature, sequences, threads, ...times.map((ms) => ms.toFixed(2)), perSecond.toFixed(0)]
    console.log(`| ${cells.join(' | ')} |`)
  }
}
