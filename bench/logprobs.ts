// The cost of log-probabilities: the time per token with the twenty likeliest of each, divided
// by the time without. Both are measured in turn within one run, so that a machine that
// slows down meanwhile does so for both.
//
//     logprobs.ts [--seconds N] [--rounds N] [--at-once N] [--threads N] [--gpu KIND] [--greedy]
//                 [--weights FILE]

import { runAlone } from '../src/core/engine.ts'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { LlamaEngine } from '../src/engines/llama/llama-engine.ts'
import type { LoadSettings } from '../src/engines/llama/ipc.ts'
import { openEngine } from './engine/engine-alone.ts'
import { engineRequest, withSeed } from '../test/harness/requests.ts'
import { halfBillion } from './weights/shapes.ts'
import { writeRandomWeights } from './weights/write-random-weights.ts'
import { wholeNumber } from './whole-number.ts'

/** As many as a client can ask for. */
const logprobsTop = 20
/** Long enough that an answer's start hardly counts, short enough that attention does not. */
const answerTokens = 64
const windowTokensMax = 1_024
const gpus = ['auto', 'off', 'cuda', 'vulkan', 'metal'] as const

/** Milliseconds a token in one round. */
type Turn = { readonly without: number; readonly with: number }

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    'at-once': { type: 'string' },
    threads: { type: 'string' },
    gpu: { type: 'string' },
    greedy: { type: 'boolean', default: false },
    weights: { type: 'string' },
  },
})
const seconds = wholeNumber('seconds', values.seconds, 2)
const rounds = wholeNumber('rounds', values.rounds, 15)
const atOnce = wholeNumber('at-once', values['at-once'], 1)
/** Null leaves it to the engine, as the service does. */
const threads = values.threads === undefined ? null : wholeNumber('threads', values.threads, 1)
const gpu = gpus.find((kind) => kind === (values.gpu ?? 'off'))
if (gpu === undefined) throw new Error(`--gpu takes one of ${gpus.join(', ')}.`)

if (values.weights !== undefined) await measure(values.weights, gpu)
else {
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-bench-'))
  try {
    const path = join(folder, 'random.gguf')
    const size = writeRandomWeights(path, halfBillion)
    console.log(`random weights: ${Math.round(size / 1e6)} MB, ${JSON.stringify(halfBillion)}`)
    await measure(path, gpu)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(weightsPath: string, kind: LoadSettings['gpu']): Promise<void> {
  const processor = cpus()[0]?.model ?? 'unknown processor'
  console.log(`${processor}, ${threads ?? 'the default'} of ${availableParallelism()} threads, GPU: ${kind}`)
  const manner = values.greedy ? 'the likeliest token each time' : 'tokens chosen by chance'
  console.log(
    `${rounds} rounds of twice ${seconds} s, answers of ${answerTokens} tokens, ${atOnce} at once, ${manner}\n`,
  )
  const setting = {
    weightsPath,
    gpu: kind,
    threads,
    slots: atOnce,
    windowTokens: windowTokensMax,
    batchTokens: 256,
    cacheBytes: 0,
  }
  const engine = await openEngine(setting, 0)
  try {
    // The first steps read the weights from the disk.
    await answerFor(engine, 1, logprobsTop)
    const turns: Turn[] = []
    printRow(['round', 'ms a token', 'with', 'tokens/s', 'with', 'ratio'])
    for (let round = 1; round <= rounds; round++) {
      const without = await answerFor(engine, seconds, null)
      const turn = { without, with: await answerFor(engine, seconds, logprobsTop) }
      turns.push(turn)
      const times = [turn.without, turn.with]
      const speeds = times.map((ms) => ((1_000 * atOnce) / ms).toFixed(1))
      printRow([String(round), ...times.map((ms) => ms.toFixed(2)), ...speeds, ratioOf(turn).toFixed(3)])
    }
    report(turns)
  } finally {
    await engine.close()
  }
}

function ratioOf(turn: Turn): number {
  return turn.with / turn.without
}

/** Other work on the machine only ever adds time, so the fastest of each say what is left without it. */
function report(turns: readonly Turn[]): void {
  const ratios = turns.map(ratioOf)
  const fastest = {
    without: Math.min(...turns.map((turn) => turn.without)),
    with: Math.min(...turns.map((turn) => turn.with)),
  }
  const [least, middle, most] = [Math.min(...ratios), median(ratios), Math.max(...ratios)].map((one) => one.toFixed(3))
  console.log(`\nratio: median ${middle}, from ${least} to ${most}; the goal is 1.3`)
  console.log(
    `fastest: ${fastest.without.toFixed(2)} and ${fastest.with.toFixed(2)} ms, ${ratioOf(fastest).toFixed(3)}`,
  )
}

/** Fills all slots, again and again. Returns the median time of a token in milliseconds. */
async function answerFor(engine: LlamaEngine, forSeconds: number, top: number | null): Promise<number> {
  const untilMs = performance.now() + forSeconds * 1_000
  const times: number[] = []
  do {
    const together = Array.from({ length: atOnce }, () => answer(engine, top))
    times.push(...(await Promise.all(together)))
  } while (performance.now() < untilMs)
  return median(times)
}

/** The time from the first text to the end, divided by the tokens in between: the prompt does not count. */
async function answer(engine: LlamaEngine, top: number | null): Promise<number> {
  // No end token is chosen before the minimum is reached, so no answer is shorter than another.
  const request = engineRequest({
    outputTokensMin: answerTokens,
    outputTokensMax: answerTokens,
    logprobsTop: top,
    // Choosing by chance among the whole vocabulary costs time of its own, which makes the rest look cheaper.
    sampling: withSeed(1, values.greedy ? 0 : 1),
  })
  let firstMs: number | null = null
  let firstTokens = 0
  let reported = 0
  for await (const event of runAlone(engine, request, new AbortController().signal)) {
    if (event.type === 'delta') {
      firstTokens = firstMs === null ? event.tokens : firstTokens
      firstMs ??= performance.now()
      reported += event.logprobs?.filter((token) => token.top.length === top).length ?? 0
    } else if (event.type === 'finish') {
      const { output } = event.usage
      if (output !== answerTokens || firstMs === null) throw new Error(`An answer has ${output} tokens.`)
      // A few tokens of bytes that are no text are reported as one.
      if (top !== null && reported < answerTokens / 2) throw new Error(`${reported} tokens have log-probabilities.`)
      return (performance.now() - firstMs) / (output - firstTokens)
    }
  }
  throw new Error('An answer did not end.')
}

function printRow(cells: readonly string[]): void {
  console.log(cells.map((cell) => cell.padStart(10)).join(' '))
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other)
  const middle = sorted.length / 2
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2
}
