// Odyssey and llama.cpp's own server on the same weights, asked in turn: README.md says how.

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { writeRandomWeights } from '../weights/write-random-weights.ts'
import type { Contestant, Setting } from './contestant.ts'
import { busyPercent } from './busy.ts'
import { startEngineAlone } from './engine-alone.ts'
import { startLlamaServer } from './llama-server.ts'
import { decodeSpeed, prefixTimes, promptSpeed, type Measure } from './measures.ts'
import { startOdyssey } from './odyssey.ts'
import { parseOptions, type Options } from './options.ts'
import { runRounds, type RowResult } from './rounds.ts'
import { toTable } from './table.ts'
import { measureTexts } from './texts.ts'

/** Odyssey starts its process for long texts 10 s after its engine, which takes 3 s of a processor with a large vocabulary. */
const settleMs = 20_000

const options = parseOptions(process.argv.slice(2))
if (typeof options.weights === 'string') await compare(options.weights, options)
else {
  const { name, shape, type } = options.weights
  const folder = mkdtempSync(join(tmpdir(), 'odyssey-bench-'))
  try {
    const path = join(folder, `${name}-${type}.gguf`)
    writeRandomWeights(path, shape, type)
    console.log(`Random weights in the shape of ${name}, ${type}`)
    await compare(path, options)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function compare(weightsPath: string, { setting, ...what }: Options): Promise<void> {
  const { threads, batchTokens } = setting
  console.log(
    `${(statSync(weightsPath).size / 1e6).toFixed(0)} MB, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
  )
  console.log(
    `${threads ?? 'each its own number of'} threads, batches of ${batchTokens} tokens, ${await busyPercent()} % busy before`,
  )
  const { streams, answerTokens, promptTokens, prefixes } = what
  const results: RowResult[] = []
  const short = { ...setting, weightsPath, slots: Math.max(...streams), windowTokens: roomFor(answerTokens) }
  const decoding = streams.map((count) => decodeSpeed(count, answerTokens))
  if (decoding.length > 0) results.push(...(await run(decoding, what.rounds, short)))
  // Two slots, so that a new prompt finds one free while the last one is kept, and no more: each has room for a long prompt.
  const long = { ...setting, weightsPath, slots: 2, windowTokens: roomFor(promptTokens ?? 0, ...prefixes) }
  const prompts = promptTokens === null ? [] : [promptSpeed(promptTokens)]
  const reading = [...prompts, ...prefixes.map((tokens) => prefixTimes(tokens, what.withRestart))]
  if (reading.length > 0) results.push(...(await run(reading, what.prefixRounds, long)))
  console.log(`\n${toTable(results)}`)
}

/** Room for the longest, with its template and question; a multiple of 256, as llama.cpp would round it. */
function roomFor(...tokens: readonly number[]): number {
  return Math.ceil((Math.max(...tokens) * 1.1 + 768) / 256) * 256
}

async function run(measures: readonly Measure[], rounds: number, setting: Setting): Promise<RowResult[]> {
  const contestants: Contestant[] = []
  try {
    // A relative path is one in the service's own folder, which it takes along when it is removed.
    const keepsPrompts = options.withRestart ? { cacheFolder: 'prompts' } : {}
    contestants.push(await startOdyssey(setting, { ...keepsPrompts, ...options.engineChanges }))
    if (options.withEngineAlone) contestants.push(await startEngineAlone(setting))
    const { llamaServers, llamaServerArguments, idlePercent } = options
    for (const [index, path] of llamaServers.entries()) {
      const name = index === 0 ? 'llama-server' : `llama-server ${index + 1}`
      contestants.push(await startLlamaServer({ name, path, moreArguments: llamaServerArguments }, setting))
    }
    // What a server does once, soon after its start, would else count against whoever is asked just then.
    await setTimeout(settleMs)
    return await runRounds(measures, contestants, await measureTexts(contestants), { rounds, idlePercent })
  } finally {
    for (const contestant of contestants) await contestant.stop()
  }
}
