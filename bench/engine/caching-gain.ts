// What a client gains by a prompt that begins like one before: the time to the first text, and what the prompt costs. Each
// round asks two questions about a new text of a number of tokens, one after the other. README.md says how to run it.

import { availableParallelism, cpus } from 'node:os'
import { basename, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { modelIds } from '../../src/core/model.ts'
import { startService } from '../../test/harness/start-service.ts'
import { wholeNumber } from '../whole-number.ts'
import { busyPercent, untilIdle } from './busy.ts'
import type { Answer } from './contestant.ts'
import { firstTextMs } from './measures.ts'
import { readAnswer } from './read-answer.ts'
import { median } from './table.ts'
import { measureTexts, type WriteText } from './texts.ts'

const { values } = parseArgs({
  options: {
    weights: { type: 'string' },
    tokens: { type: 'string' },
    rounds: { type: 'string' },
    threads: { type: 'string' },
    idle: { type: 'string' },
    'read-percent': { type: 'string' },
  },
})
const sizes = (values.tokens ?? '500,2000,6000').split(',').map((size) => wholeNumber('tokens', size, 0))
const rounds = wholeNumber('rounds', values.rounds, 5)
const threads = wholeNumber('threads', values.threads, availableParallelism())
const idlePercent = wholeNumber('idle', values.idle, 100)
/** What a token that is read from the cache costs of one that is computed. */
const readPercent = wholeNumber('read-percent', values['read-percent'], 10)
const weights = resolve(values.weights ?? 'weights/starter.gguf')

type Round = { readonly fresh: Answer; readonly again: Answer }

const service = await startService({
  config: {
    models: Object.fromEntries(modelIds.map((id) => [id, { weights }])),
    engine: { gpu: 'off', threads, windowTokensMax: Math.max(...sizes) * 2 + 1_024 },
  },
})
try {
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${threads} threads, ${await busyPercent()} % busy`
  console.log(`${basename(weights)} on ${machine} before`)
  const write = await measureTexts([{ name: 'Odyssey', ask, restart: null, stop: () => service.stop() }])
  console.log(
    '| Tokens in common | First text, new | First text, again | Again / new | From the cache | Cost, again / new |',
  )
  console.log('| -: | -: | -: | -: | -: | -: |')
  for (const size of sizes) report(size, await measure(write, size))
} finally {
  await service.stop()
}

async function measure(write: WriteText, size: number): Promise<Round[]> {
  const measured: Round[] = []
  for (let round = 1; round <= rounds; round += 1) {
    await untilIdle(idlePercent)
    const system = write(`Text ${round} of ${size}`, size)
    const fresh = await ask({ system, question: write(`What does ${round} begin with?`, 20), tokens: 4 })
    const again = await ask({ system, question: write(`How does ${round} end?`, 20), tokens: 4 })
    measured.push({ fresh, again })
  }
  return measured
}

type Question = { readonly system: string; readonly question: string; readonly tokens: number }

function ask({ system, question, tokens }: Question): Promise<Answer> {
  return readAnswer(service.address, service.key, {
    model: 'clarke-1.0',
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: question },
    ],
    temperature: 0,
    max_tokens: tokens,
    min_tokens: tokens,
  })
}

/** A ratio is one of a round: what slowed the machine down slowed both sides of it. */
function report(size: number, measured: readonly Round[]): void {
  const middle = (value: (round: Round) => number) => median(measured.map(value)) ?? NaN
  const cells = [
    size.toLocaleString('en'),
    `${middle(({ fresh }) => firstTextMs(fresh)).toFixed(0)} ms`,
    `${middle(({ again }) => firstTextMs(again)).toFixed(0)} ms`,
    middle(({ fresh, again }) => firstTextMs(again) / firstTextMs(fresh)).toFixed(2),
    `${middle(({ again }) => (100 * again.cachedTokens) / again.promptTokens).toFixed(0)} %`,
    middle(({ fresh, again }) => costOf(again) / costOf(fresh)).toFixed(2),
  ]
  console.log(`| ${cells.join(' | ')} |`)
}

/** Of the prompt, in what a token costs that is computed. */
function costOf({ promptTokens, cachedTokens }: Answer): number {
  return promptTokens - cachedTokens + (cachedTokens * readPercent) / 100
}
