// Windows beyond the training's, and an attention's memory of fewer bits: what a setting says reaches the library.

import { equal, match, notEqual, ok } from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { halfBillion } from '../../bench/weights/shapes.ts'
import { writeRandomWeights } from '../../bench/weights/write-random-weights.ts'
import type { RopeScaling } from '../../src/config/models-schema.ts'
import { configFileSchema } from '../../src/config/schema.ts'
import { memoryBound } from '../../src/engines/llama/confinement/memory-limit.ts'
import { inspectWeights } from '../../src/engines/llama/gguf/inspect-weights.ts'
import type { LoadSettings } from '../../src/engines/llama/ipc.ts'
import { askEngine, longPrompt, user, type EngineAnswer } from '../harness/engines/ask-engine.ts'
import { openLlama } from '../harness/engines/open-llama.ts'
import { withSeed } from '../harness/requests.ts'

const folder = mkdtempSync(join(tmpdir(), 'odyssey-windows-'))
after(() => rmSync(folder, { recursive: true }))
const starterPath = fileURLToPath(new URL('../../weights/starter.gguf', import.meta.url))
const sum = { messages: [user('What is 47 + 85?')], sampling: withSeed(1, 0), outputTokensMax: 150 }
/** Positions far enough from the first for a scaling to show, and logits to see it by. */
const long = { ...longPrompt(1, 300), sampling: withSeed(1, 0), outputTokensMax: 4, logprobsTop: 1 }

type Loaded = { readonly windowTokens: number; readonly answer: EngineAnswer }

async function load(settings: Partial<LoadSettings>, asked: Parameters<typeof askEngine>[1]): Promise<Loaded> {
  const ready = Promise.withResolvers<number>()
  const onReady = ({ windowTokens }: { readonly windowTokens: number }) => ready.resolve(windowTokens)
  const engine = openLlama({ weightsPath: starterPath, ...settings }, { onReady, onExit: ready.reject })
  try {
    return { windowTokens: await ready.promise, answer: await askEngine(engine, asked) }
  } finally {
    await engine.close()
  }
}

test('an attention memory of 8 or 4 bits still answers a sum rightly', async () => {
  for (const kvCacheType of ['q8_0', 'q4_0'] as const) {
    const { answer } = await load({ kvCacheType }, sum)
    match(answer.text, /132/, kvCacheType)
  }
})

test('an attention memory of 4 bits computes other numbers than one of 16', async () => {
  const [whole, quarter] = await Promise.all(
    (['f16', 'q4_0'] as const).map(async (kvCacheType) => (await load({ kvCacheType }, long)).answer),
  )
  notEqual(JSON.stringify(whole?.blocks), JSON.stringify(quarter?.blocks))
})

test('scaled positions give the window times the factor, whole or not, and reach the computation', async () => {
  // The starter's layers look back over a stretch so short that its positions are never scaled.
  const weightsPath = join(folder, 'random.gguf')
  const shape = {
    ...halfBillion,
    layers: 2,
    embedding: 128,
    heads: 2,
    keyValueHeads: 2,
    headLength: 64,
    feedForward: 64,
  }
  writeRandomWeights(weightsPath, { ...shape, vocabulary: 2_000, windowTokens: 4_096 })
  const unscaled = await load({ weightsPath }, long)
  equal(unscaled.windowTokens, 4_096)
  const scalings: readonly RopeScaling[] = [
    { type: 'yarn', factor: 4, trainedWindowTokens: null },
    { type: 'linear', factor: 1.5, trainedWindowTokens: 2_048 },
  ]
  for (const ropeScaling of scalings) {
    const { windowTokens, answer } = await load({ weightsPath, ropeScaling, windowTokensMax: 100_000 }, long)
    equal(windowTokens, ropeScaling.factor * (ropeScaling.trainedWindowTokens ?? 4_096))
    notEqual(JSON.stringify(answer.blocks), JSON.stringify(unscaled.answer.blocks), ropeScaling.type)
  }
})

test('the memory an engine may take follows from the bits of its numbers and from its window', () => {
  const needs = {
    weights: inspectWeights(starterPath),
    slots: 8,
    windowTokensMax: 1_000_000,
    cacheBytesMax: 0,
    machineBytes: 2 ** 50,
    kvCacheType: 'f16',
    ropeScaling: null,
  } as const
  const fixed = memoryBound({ ...needs, slots: 0 })
  const whole = memoryBound(needs) - fixed
  ok(Math.abs((memoryBound({ ...needs, kvCacheType: 'q8_0' }) - fixed) / whole - 17 / 32) < 0.001)
  ok(Math.abs((memoryBound({ ...needs, kvCacheType: 'q4_0' }) - fixed) / whole - 9 / 32) < 0.001)
  const ropeScaling = { type: 'yarn', factor: 2, trainedWindowTokens: 50_000 } as const
  ok(Math.abs((memoryBound({ ...needs, ropeScaling }) - fixed) / whole - 0.1) < 0.001)
})

test('a config file scales only weights that it names, and weights of several models alike', () => {
  const scaled = { weights: 'a.gguf', ropeScaling: { type: 'yarn', factor: 4 } }
  const faultsOf = (models: unknown) =>
    configFileSchema.safeParse({ models }).error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
  const thinking = 'off'
  equal(faultsOf({ 'clarke-1.0': { ...scaled, thinking } }), undefined)
  match(
    String(faultsOf({ 'clarke-1.0': { ...scaled, thinking, weights: null } })),
    /clarke-1\.0\.ropeScaling needs weights/,
  )
  match(
    String(faultsOf({ 'clarke-1.0': { ...scaled, thinking }, 'tycho-1.0': { weights: 'a.gguf', thinking } })),
    /clarke-1\.0\.ropeScaling must be that of tycho-1\.0 too/,
  )
})
