import { hashBlocks } from '../../src/scheduling/pool/block-index.ts'
import type { SimulatedRequest } from './replica-model.ts'

/** Requests with their prompts as texts of numbers, of which those with the same beginning share it. */
export type RequestSet = {
  readonly name: string
  readonly load: string
  make(count: number, random: () => number): SimulatedRequest[]
}

/** A prompt of parts: each part is a text of its own, the same wherever it has the same name. */
function promptOf(parts: readonly (readonly [name: number, tokens: number])[]): Uint32Array {
  const tokens = new Uint32Array(parts.reduce((sum, [, length]) => sum + length, 0))
  let at = 0
  for (const [name, length] of parts) {
    for (let token = 0; token < length; token++) tokens[at++] = (name * 65_537 + token * 31) >>> 0
  }
  return tokens
}

function request(atMs: number, tokens: Uint32Array, outputTokens: number): SimulatedRequest {
  return { atMs, tokens: tokens.length, chain: hashBlocks(tokens, 'one'), outputTokens }
}

const between = (random: () => number, least: number, most: number) => Math.floor(least + random() * (most - least))
const pauseMs = (random: () => number, perSecond: number) => (-Math.log(1 - random()) * 1_000) / perSecond

function shared(
  name: string,
  { groups, tokens, perSecond }: { groups: number; tokens: number; perSecond: number },
): RequestSet {
  return {
    name,
    load: `${perSecond}/s`,
    make(count, random) {
      let atMs = 0
      let own = 1_000_000
      return Array.from({ length: count }, () => {
        atMs += pauseMs(random, perSecond)
        const parts = [
          [between(random, 0, groups), tokens],
          [++own, between(random, 200, 1_500)],
        ] as const
        return request(atMs, promptOf(parts), between(random, 50, 350))
      })
    },
  }
}

/** Sessions of several turns, each of which repeats all before it. */
const agents: RequestSet = {
  name: 'agents, 2-20 turns',
  load: '1.2 sessions/s',
  make(count, random) {
    const requests: SimulatedRequest[] = []
    let begunMs = 0
    for (let session = 1; requests.length < count; session++) {
      begunMs += pauseMs(random, 1.2)
      let atMs = begunMs
      const parts: [number, number][] = [[between(random, 0, 20), 3_000]]
      for (let turn = between(random, 2, 20); turn > 0; turn--) {
        parts.push([session * 1_000 + turn, between(random, 100, 1_200)])
        requests.push(request(atMs, promptOf(parts), between(random, 50, 400)))
        atMs += 2_000 + pauseMs(random, 0.2)
      }
    }
    return requests.toSorted((a, b) => a.atMs - b.atMs).slice(0, count)
  },
}

const unshared: RequestSet = {
  name: 'unshared, 200-12,000',
  load: '8/s',
  make(count, random) {
    let atMs = 0
    return Array.from({ length: count }, (_, own) => {
      atMs += pauseMs(random, 8)
      return request(atMs, promptOf([[own + 1, between(random, 200, 12_000)]]), between(random, 50, 350))
    })
  },
}

export const sets: readonly RequestSet[] = [
  shared('150 x 6,000 shared', { groups: 150, tokens: 6_000, perSecond: 12 }),
  shared('one prefix of 32,000', { groups: 1, tokens: 32_000, perSecond: 24 }),
  agents,
  unshared,
]
