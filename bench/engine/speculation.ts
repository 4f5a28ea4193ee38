// What guessing ahead gains where an answer repeats itself, and what it costs where it does not:
// the engine with speculation and without, asked in turn. README.md says how.

import { runAlone } from '../../src/core/engine.ts'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { EngineRequest, GenerationEvent } from '../../src/core/generation.ts'
import type { LlamaEngine } from '../../src/engines/llama/llama-engine.ts'
import { engineRequest, withSeed } from '../../test/harness/requests.ts'
import { useOfTree } from '../process-use.ts'
import { shapes } from '../weights/shapes.ts'
import { writeRandomWeights } from '../weights/write-random-weights.ts'
import { wholeNumber } from '../whole-number.ts'
import { openEngine } from './engine-alone.ts'

/** Milliseconds of one token. */
type Cost = { readonly wallMs: number; readonly processorMs: number }

type Work = { readonly name: string; readonly sampling: (round: number) => EngineRequest['sampling'] }

// Random weights repeat nothing by themselves, so that an answer is made to: tokens are favoured
// far beyond all others. Which ones is of no importance.
const works: readonly Work[] = [
  { name: 'Repeats itself', sampling: (round) => ({ ...withSeed(round, 0), logitBias: [[1_000, 100]] }) },
  {
    name: 'Every guess is as good as a coin',
    sampling: (round) => ({ ...withSeed(round), logitBias: [1_000, 1_001].map((token) => [token, 1_000] as const) }),
  },
  { name: 'Repeats nothing', sampling: (round) => withSeed(round) },
]

const type = 'string'
const { values } = parseArgs({
  options: {
    answer: { type },
    rounds: { type },
    threads: { type },
    draft: { type },
    streams: { type },
    prompt: { type },
    gpu: { type, default: 'off' },
  },
})
const answerTokens = wholeNumber('answer', values.answer, 96)
const rounds = wholeNumber('rounds', values.rounds, 5)
const threads = wholeNumber('threads', values.threads, 1)
const draftTokensMax = wholeNumber('draft', values.draft, 15)
const streams = wholeNumber('streams', values.streams, 1)
const promptWords = wholeNumber('prompt', values.prompt, 100)

const folder = mkdtempSync(join(tmpdir(), 'odyssey-bench-'))
try {
  const weightsPath = join(folder, 'weights.gguf')
  writeRandomWeights(weightsPath, shapes['qwen3-0.6b']!, 'q4_0')
  const gpu = values.gpu === 'off' ? 'off' : 'auto'
  const windowTokens = 1_024 + 2 * promptWords + answerTokens
  const setting = { weightsPath, gpu, threads, slots: streams, windowTokens, batchTokens: 512, cacheBytes: 0 } as const
  const off = await openEngine(setting, 0)
  const on = await openEngine(setting, draftTokensMax)
  try {
    for (const work of works) await compare(work, off, on)
  } finally {
    await Promise.all([off.close(), on.close()])
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The engines in turn, each round begun by the other one. */
async function compare({ name, sampling }: Work, off: LlamaEngine, on: LlamaEngine): Promise<void> {
  const wall: number[] = []
  const processor: number[] = []
  const before = draftsOf(on)
  for (let round = 1; round <= rounds; round++) {
    const measured = new Map<LlamaEngine, Cost>()
    for (const engine of round % 2 === 0 ? [on, off] : [off, on]) {
      measured.set(engine, await measure(engine, sampling(round)))
    }
    const [without, withDrafts] = [measured.get(off)!, measured.get(on)!]
    wall.push(without.wallMs / withDrafts.wallMs)
    processor.push(without.processorMs / withDrafts.processorMs)
    const describe = ({ wallMs, processorMs }: Cost) =>
      `${wallMs.toFixed(1)} ms, ${processorMs.toFixed(1)} of a processor`
    console.error(`${name}, round ${round}, a token: without ${describe(without)}; with ${describe(withDrafts)}`)
  }
  // The child tells its counts every second.
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  const after = draftsOf(on)
  const share = `${after.accepted - before.accepted} of ${after.drafted - before.drafted} drafted tokens accepted`
  console.log(`${name}: × ${spread(wall)} by the clock, × ${spread(processor)} by processor time; ${share}`)
}

function draftsOf(engine: LlamaEngine) {
  return engine.status().drafts ?? { drafted: 0, accepted: 0 }
}

/** The median and the range. */
function spread(ratios: readonly number[]): string {
  const [least, middle, most] = [0, Math.floor((ratios.length - 1) / 2), ratios.length - 1].map((at) =>
    ratios.toSorted((a, b) => a - b)[at]!.toFixed(2),
  )
  return `${middle} (${least}–${most})`
}

/** A token of all streams together, each one's first token aside. */
async function measure(engine: LlamaEngine, sampling: EngineRequest['sampling']): Promise<Cost> {
  const firsts = await Promise.all(
    Array.from({ length: streams }, async (_, stream) => {
      const events = ask(engine, sampling, stream)
      for (;;) {
        const { value, done } = await events.next()
        if (done === true) throw new Error('An answer has no text.')
        if (value.type === 'delta') return events
      }
    }),
  )
  const [fromMs, spentMs] = [performance.now(), processorMs(engine)]
  await Promise.all(firsts.map(readToEnd))
  const tokens = streams * (answerTokens - 1)
  return { wallMs: (performance.now() - fromMs) / tokens, processorMs: (processorMs(engine) - spentMs) / tokens }
}

async function readToEnd(events: AsyncIterable<GenerationEvent>): Promise<void> {
  for await (const event of events) {
    if (event.type !== 'finish' || event.usage.output === answerTokens) continue
    throw new Error(`An answer has ${event.usage.output} tokens instead of ${answerTokens}.`)
  }
}

/** What a child has spent of the processors' time, which hardly depends on how busy others keep them. Only Linux tells. */
function processorMs({ pid }: LlamaEngine): number {
  return (pid === null ? null : useOfTree(pid)?.cpuMs) ?? NaN
}

function ask(engine: LlamaEngine, sampling: EngineRequest['sampling'], stream: number) {
  const text = `${stream}. ${Array.from({ length: promptWords }, (_, word) => (word * 7_919) % 1_009).join(' ')}`
  const request = engineRequest({
    messages: [{ role: 'user', content: [{ kind: 'text', text }] }],
    outputTokensMin: answerTokens,
    outputTokensMax: answerTokens,
    sampling,
  })
  return runAlone(engine, request, new AbortController().signal)
}
