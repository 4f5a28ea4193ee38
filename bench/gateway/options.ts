import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'
import { wholeNumber } from '../whole-number.ts'
import type { Pace } from './mock/pacer.ts'
import type { ShapeOptions } from './shapes.ts'
import type { Variant } from './targets/odyssey.ts'
import type { Peer } from './targets/peer.ts'

export type Options = ShapeOptions & {
  /** Null measures for as long as fits into the time for a whole run. */
  readonly seconds: number | null
  readonly warmUpSeconds: number
  readonly pace: Pace
  /** Null where there is none. */
  readonly nginx: string | null
  /** Odyssey in other versions or with other arguments of Node. */
  readonly variants: readonly Variant[]
  readonly peers: readonly Peer[]
  readonly mockPort: number
  readonly gatewayCore: string | undefined
  readonly otherCores: string | undefined
}

export function parseOptions(args: readonly string[]): Options {
  const type = 'string'
  const { values } = parseArgs({
    args: [...args],
    options: {
      rates: { type, default: '50,200,500,1000' },
      prompts: { type, default: '200,10000' },
      seconds: { type },
      'warm-up': { type },
      tokens: { type },
      'first-token-ms': { type },
      'tokens-per-second': { type },
      nginx: { type },
      variant: { type, multiple: true, default: [] },
      peer: { type, multiple: true, default: [] },
      'mock-port': { type },
      'gateway-core': { type },
      'other-cores': { type },
    },
  })
  return {
    rates: wholeNumbers('rates', values.rates),
    promptBytes: wholeNumbers('prompts', values.prompts),
    tokens: wholeNumber('tokens', values.tokens, 16),
    seconds: values.seconds === undefined ? null : wholeNumber('seconds', values.seconds, 1),
    warmUpSeconds: wholeNumber('warm-up', values['warm-up'], 10),
    pace: {
      firstTokenMs: wholeNumber('first-token-ms', values['first-token-ms'], 20),
      tokensPerSecond: wholeNumber('tokens-per-second', values['tokens-per-second'], 200),
    },
    nginx: values.nginx === 'none' ? null : (values.nginx ?? findInPath('nginx')),
    variants: values.variant.map((text) => JSON.parse(text) as Variant),
    peers: values.peer.map((text) => JSON.parse(text) as Peer),
    mockPort: values['mock-port'] === undefined ? 0 : wholeNumber('mock-port', values['mock-port'], 0),
    gatewayCore: values['gateway-core'],
    otherCores: values['other-cores'],
  }
}

function wholeNumbers(option: string, text: string): number[] {
  return text.split(',').map((one) => wholeNumber(option, one, 1))
}

function findInPath(program: string): string | null {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, program)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // It is not there, or not to be run.
    }
  }
  return null
}
