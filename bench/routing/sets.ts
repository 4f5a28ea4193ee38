import { readFileSync } from 'node:fs'
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
const agents = (perSecond: number): RequestSet => ({
  name: 'agents, 2–20 turns',
  load: `${perSecond} sessions/s`,
  make(count, random) {
    const requests: SimulatedRequest[] = []
    let begunMs = 0
    for (let session = 1; requests.length < count; session++) {
      begunMs += pauseMs(random, perSecond)
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
})

const unshared: RequestSet = {
  name: 'unshared, 200–12,000',
  load: '8/s',
  make(count, random) {
    let atMs = 0
    return Array.from({ length: count }, (_, own) => {
      atMs += pauseMs(random, 8)
      return request(atMs, promptOf([[own + 1, between(random, 200, 12_000)]]), between(random, 50, 350))
    })
  },
}

/** One line of a trace: an id for each 512 tokens, the same where the tokens before it and in it are the same. */
type TraceLine = {
  readonly timestamp: number
  readonly input_length: number
  readonly output_length: number
  readonly hash_ids: readonly number[]
}

const tracedTokens = 512

/** Requests of a trace from its beginning, so many times as fast. */
function traced(name: string, path: string, speed: number): RequestSet {
  return {
    name,
    load: `${speed} × real time, ${path.split('/').at(-1) ?? ''}`,
    make(count) {
      const lines = readFileSync(path, 'utf8').trim().split('\n').slice(0, count)
      return lines.map((line) => {
        const { timestamp, input_length: tokens, output_length: output, hash_ids: ids } = JSON.parse(line) as TraceLine
        const parts = ids.map((id, index) => [id, Math.min(tracedTokens, tokens - index * tracedTokens)] as const)
        return request(timestamp / speed, promptOf(parts.filter(([, length]) => length > 0)), output)
      })
    },
  }
}

/** The sizes and the arrivals of Mooncake's conversation trace, where its file is not there. */
function conversationShape(name: string): RequestSet {
  return {
    name,
    load: '3.4/s, its shape alone',
    make(count, random) {
      const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
      let atMs = 0
      return Array.from({ length: count }, (_, own) => {
        atMs += pauseMs(random, 3.4)
        const tokens = Math.min(126_000, Math.max(200, Math.round(6_909 * Math.exp(1.07 * normal()))))
        // Few beginnings are asked for often and most once.
        const group = Math.floor(400 * random() ** 3)
        const shared = random() < 0.55 ? Math.floor(tokens * (0.3 + 0.6 * random())) : 0
        const parts = [[5_000_000 + group, shared] as const, [own + 1, tokens - shared] as const]
        return request(atMs, promptOf(parts.filter(([, length]) => length > 0)), between(random, 20, 660))
      })
    },
  }
}

/** An organization that asks now and then, and the same while another asks for 64 long prompts at once, again and again. */
export function flood(random: () => number): { quiet: SimulatedRequest[]; all: SimulatedRequest[] } {
  const of = (organizationId: string, one: SimulatedRequest) => ({ ...one, organizationId })
  let atMs = 0
  const quiet = Array.from({ length: 300 }, (_, own) => {
    atMs += pauseMs(random, 2)
    return of('quiet', request(atMs, promptOf([[own + 1, between(random, 500, 3_000)]]), between(random, 50, 200)))
  })
  const floods = Array.from({ length: Math.floor(atMs / 20_000) }, (_, time) =>
    Array.from({ length: 64 }, (_one, index) =>
      of('flood', request(time * 20_000, promptOf([[900_000 + time * 64 + index, 8_000]]), 100)),
    ),
  )
  return { quiet, all: [...quiet, ...floods.flat()].toSorted((a, b) => a.atMs - b.atMs) }
}

export type Traces = { readonly conversation?: string | undefined; readonly synthetic?: string | undefined }

export function setsOf({ conversation, synthetic }: Traces): RequestSet[] {
  return [
    shared('150 × 6,000 shared', { groups: 150, tokens: 6_000, perSecond: 12 }),
    shared('150 × 6,000 shared', { groups: 150, tokens: 6_000, perSecond: 18 }),
    shared('one prefix of 32,000', { groups: 1, tokens: 32_000, perSecond: 24 }),
    agents(1.2),
    agents(1.8),
    unshared,
    ...(conversation === undefined
      ? [conversationShape('Mooncake conversation')]
      : [traced('Mooncake conversation', conversation, 1), traced('Mooncake conversation', conversation, 1.5)]),
    ...(synthetic === undefined ? [] : [traced('Mooncake synthetic', synthetic, 1)]),
  ]
}
