import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { shapes, type Shape } from '../weights/shapes.ts'
import { weightTypes, type WeightType } from '../weights/tensors.ts'
import { wholeNumber } from '../whole-number.ts'
import type { Setting } from './contestant.ts'

export type Options = {
  /** A file, or random weights to be made. */
  readonly weights: string | { readonly name: string; readonly shape: Shape; readonly type: WeightType }
  readonly llamaServers: readonly string[]
  readonly llamaServerArguments: readonly string[]
  readonly withEngineAlone: boolean
  readonly withRestart: boolean
  readonly engineChanges: Record<string, unknown>
  readonly streams: readonly number[]
  readonly answerTokens: number
  readonly promptTokens: number | null
  readonly prefixes: readonly number[]
  readonly rounds: number
  readonly prefixRounds: number
  /** Before each reading the machine may be no busier than this. */
  readonly idlePercent: number
  readonly setting: Omit<Setting, 'weightsPath' | 'slots' | 'windowTokens'>
}

const gpus = ['off', 'auto', 'cuda', 'vulkan', 'metal'] as const

export function parseOptions(args: readonly string[]): Options {
  const type = 'string'
  const { values } = parseArgs({
    args: [...args],
    options: {
      weights: { type },
      shape: { type, default: 'qwen3-0.6b' },
      type: { type, default: 'q4_0' },
      'llama-server': { type, multiple: true, default: [] },
      'llama-server-arguments': { type, default: '' },
      'engine-alone': { type: 'boolean', default: false },
      restart: { type: 'boolean', default: false },
      engine: { type, default: '{}' },
      streams: { type, default: '1,4,8' },
      answer: { type },
      prompt: { type, default: '2000' },
      prefixes: { type, default: '2000,8000' },
      rounds: { type },
      'prefix-rounds': { type },
      idle: { type },
      threads: { type },
      batch: { type },
      'cache-mib': { type },
      gpu: { type, default: 'off' },
      temperature: { type, default: '0' },
    },
  })
  const gpu = oneOf('gpu', values.gpu, gpus)
  const shape = shapes[oneOf('shape', values.shape, Object.keys(shapes))]!
  const random = { name: values.shape, shape, type: oneOf('type', values.type, weightTypes) }
  return {
    weights: values.weights === undefined ? random : resolve(values.weights),
    llamaServers: values['llama-server'],
    llamaServerArguments: values['llama-server-arguments'].split(' ').filter((one) => one !== ''),
    withEngineAlone: values['engine-alone'],
    withRestart: values.restart,
    engineChanges: JSON.parse(values.engine) as Record<string, unknown>,
    streams: wholeNumbers('streams', values.streams),
    answerTokens: wholeNumber('answer', values.answer, 128),
    promptTokens: wholeNumbers('prompt', values.prompt)[0] ?? null,
    prefixes: wholeNumbers('prefixes', values.prefixes),
    rounds: wholeNumber('rounds', values.rounds, 7),
    prefixRounds: wholeNumber('prefix-rounds', values['prefix-rounds'], 3),
    idlePercent: wholeNumber('idle', values.idle, 100),
    setting: {
      gpu,
      threads: values.threads === undefined ? null : wholeNumber('threads', values.threads, 1),
      batchTokens: wholeNumber('batch', values.batch, 512),
      cacheBytes: wholeNumber('cache-mib', values['cache-mib'], 2_048) * 2 ** 20,
      temperature: Number(values.temperature),
    },
  }
}

/** `none` measures nothing of the kind. */
function wholeNumbers(option: string, text: string): number[] {
  return text === 'none' ? [] : text.split(',').map((one) => wholeNumber(option, one, 1))
}

function oneOf<Value extends string>(option: string, value: string, values: readonly Value[]): Value {
  const found = values.find((one) => one === value)
  if (found === undefined) throw new Error(`--${option} takes one of ${values.join(', ')}, not ${value}.`)
  return found
}
