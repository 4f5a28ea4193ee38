// How soon a long conversation goes on after the service was ended and started again: README.md says how.

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startService, type Service } from '../../test/harness/start-service.ts'
import { shapes } from '../weights/shapes.ts'
import { writeRandomWeights } from '../weights/write-random-weights.ts'
import { wholeNumber } from '../whole-number.ts'
import { busyPercent, untilIdle } from './busy.ts'
import { openConversation, type LongConversation, type Turn } from './conversation.ts'
import { median } from './table.ts'

const { values } = parseArgs({
  options: {
    weights: { type: 'string' },
    tokens: { type: 'string' },
    rounds: { type: 'string' },
    threads: { type: 'string' },
    pause: { type: 'string' },
    idle: { type: 'string' },
  },
})
const tokens = wholeNumber('tokens', values.tokens, 8_000)
const rounds = wholeNumber('rounds', values.rounds, 10)
const threads = wholeNumber('threads', values.threads, availableParallelism())
const pauseMs = wholeNumber('pause', values.pause, 1_500)
const idlePercent = wholeNumber('idle', values.idle, 100)
/** After each restart; the last of them say what warm is. */
const warmTurns = 5
const warmTurnsCounted = 4

type Round = { readonly first: Turn; readonly warm: readonly Turn[] }

const folder = mkdtempSync(join(tmpdir(), 'odyssey-bench-'))
try {
  const made = join(folder, 'weights.gguf')
  if (values.weights === undefined) writeRandomWeights(made, shapes['qwen3-0.6b']!, 'q4_0')
  await measure(values.weights === undefined ? made : resolve(values.weights))
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function measure(weightsPath: string): Promise<void> {
  const megabytes = (statSync(weightsPath).size / 1e6).toFixed(0)
  console.log(`${megabytes} MB, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${threads} threads`)
  console.log(`${tokens} tokens, ${await busyPercent()} % busy before`)
  const weights = { weights: weightsPath }
  let service = await startService({
    config: {
      models: { 'clarke-1.0': weights, 'hal-1.0': weights, 'tycho-1.0': weights },
      engine: {
        gpu: 'off',
        slots: 2,
        threads,
        // Each round adds turns to the conversation.
        windowTokensMax: Math.ceil((tokens * 1.2 + rounds * 1_200 + 768) / 256) * 256,
        cacheFolder: 'prompts',
      },
    },
  })
  try {
    const conversation = await openConversation(service, tokens)
    report('new', [await conversation.next(service)])
    for (let turn = 0; turn < warmTurns; turn++) await conversation.next(service)
    const rows = [
      { name: 'asked as soon as it serves', waitMs: 0, rounds: [] as Round[] },
      { name: `asked ${pauseMs} ms later, and each after such a pause`, waitMs: pauseMs, rounds: [] as Round[] },
    ]
    for (let round = 1; round <= rounds; round++) {
      for (const row of rows) {
        await untilIdle(idlePercent)
        await service.stop()
        service = await service.restart()
        await setTimeout(row.waitMs)
        const first = await conversation.next(service)
        const warm = await goOn(conversation, service, row.waitMs)
        row.rounds.push({ first, warm: warm.slice(-warmTurnsCounted) })
        console.error(`round ${round}, ${row.name}: ${first.firstTextMs.toFixed(1)} ms`)
      }
    }
    for (const row of rows) reportRestarts(row.name, row.rounds)
  } finally {
    await service.stop()
  }
}

async function goOn(conversation: LongConversation, service: Service, waitMs: number): Promise<Turn[]> {
  const turns: Turn[] = []
  for (let turn = 0; turn < warmTurns; turn++) {
    // A pause costs something in itself: caches and clock frequency are not what they were.
    await setTimeout(waitMs)
    turns.push(await conversation.next(service))
  }
  return turns
}

function report(name: string, turns: readonly Turn[]): void {
  const cached = median(turns.map(({ cachedPercent }) => cachedPercent))
  console.log(
    `${name}: ${show(middle(turns, 'firstTextMs'))} ms by the clock, ${show(middle(turns, 'processorMs'))} of a processor, ${show(cached)} % from the cache`,
  )
}

/** A ratio is one of a round: what slowed the machine down slowed both sides of it. */
function reportRestarts(name: string, measured: readonly Round[]): void {
  const warm = measured.flatMap((round) => round.warm)
  const first = measured.map((round) => round.first)
  report(`${name}, first`, first)
  report(`${name}, then`, warm)
  const ratio = (what: 'firstTextMs' | 'processorMs') =>
    show(median(measured.map((round) => (round.first[what] ?? NaN) / (middle(round.warm, what) ?? NaN))))
  console.log(`  × ${ratio('firstTextMs')} by the clock, × ${ratio('processorMs')} by processor time`)
}

function middle(turns: readonly Turn[], what: 'firstTextMs' | 'processorMs'): number | null {
  return median(turns.map((turn) => turn[what]).filter((value) => value !== null))
}

function show(value: number | null): string {
  return value === null || Number.isNaN(value) ? '–' : value.toFixed(2)
}
