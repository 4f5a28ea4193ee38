// Measures how long a long conversation takes to be counted: the first time, and sent again with one turn more, of which
// only that turn has to be tokenized. `child` is what the service waits for, the way to the process that counts included.
//
//     node bin/odyssey.cjs --run bench/counting/resent.ts [--weights FILE] [--tokens N] [--turn N] [--rounds N]

import { randomInt, randomUUID } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { EngineRequest } from '../../src/core/generation.ts'
import { loadText } from '../../src/engines/llama/child/native.ts'
import { TextChild } from '../../src/engines/llama/text-child.ts'
import { PieceMemory } from '../../src/engines/text/prompt/piece-memory.ts'
import { countPrompt, createTextTools } from '../../src/engines/text/text-tools.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { vocabularyOnly } from '../../src/models/fleet/pools/remote-pools.ts'
import { engineRequest } from '../../test/harness/requests.ts'
import { wholeNumber } from '../whole-number.ts'

const type = 'string'
const { values } = parseArgs({
  options: { weights: { type }, tokens: { type }, turn: { type }, rounds: { type } },
})
const weightsPath = values.weights ?? fileURLToPath(new URL('../../weights/starter.gguf', import.meta.url))
const wanted = wholeNumber('tokens', values.tokens, 100_000)
const turnTokens = wholeNumber('turn', values.turn, 1_000)
const rounds = wholeNumber('rounds', values.rounds, 15)
const never = new AbortController().signal

/** Prose and code, as agents send them. */
const texts = globSync(['docs/**/*.md', 'src/**/*.ts'])
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n')
const tools = createTextTools(await loadText({ weightsPath }))
const sample = texts.slice(0, 400_000)
const perCharacter = tools.vocabulary.tokenize(sample).length / sample.length

/** Turns of their own each time, so that nothing of them is remembered. */
function conversation(tokens: number): EngineRequest {
  const length = Math.round(turnTokens / perCharacter)
  const turn = () => {
    const start = randomInt(texts.length - length)
    return `${randomUUID()} ${texts.slice(start, start + length)}`
  }
  const messages = Array.from({ length: Math.round(tokens / turnTokens) }, (_, index) => ({
    role: index % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: [{ kind: 'text' as const, text: turn() }],
  }))
  return engineRequest({ messages })
}

function grown({ messages, ...request }: EngineRequest): EngineRequest {
  const [more] = conversation(turnTokens).messages
  return { ...request, messages: more === undefined ? messages : [...messages, more] }
}

async function timed(work: () => Promise<number>): Promise<{ readonly ms: number; readonly tokens: number }> {
  const startedMs = performance.now()
  const tokens = await work()
  return { ms: performance.now() - startedMs, tokens }
}

async function measure(name: string, count: (request: EngineRequest) => Promise<number>): Promise<void> {
  const cold: number[] = []
  const again: number[] = []
  let tokens = 0
  for (let round = 0; round < rounds; round++) {
    const first = conversation(wanted)
    cold.push((await timed(() => count(first))).ms)
    const second = grown(first)
    const resent = await timed(() => count(second))
    again.push(resent.ms)
    tokens = resent.tokens
  }
  console.log(
    `${name.padEnd(12)} ${tokens} tokens: cold ${line(cold)}; sent again with ${turnTokens} new ones ${line(again)}`,
  )
}

function line(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN).toFixed(1)
  return `best ${at(0)} ms, P50 ${at(0.5)} ms, worst ${at(1)} ms`
}

const child = new TextChild({
  settings: vocabularyOnly(weightsPath),
  environment: {},
  clock: systemClock,
  onExit: () => {},
  onOutput: (output) => console.error(output),
})
try {
  console.log(`${availableParallelism()} processors, ${weightsPath}`)
  await measure('no memory', (request) => countPrompt(request, tools, async () => {}))
  const remembering = createTextTools(await loadText({ weightsPath }), null, new PieceMemory(64 * 2 ** 20))
  await measure('memory', (request) => countPrompt(request, remembering, async () => {}))
  await child.describe(never)
  await measure('child', (request) => child.count(request, never))
} finally {
  await child.close()
}
