// Simulated replicas, and ways to choose among them: how long the first token takes, how much is found in caches, and how
// evenly the work is spread. `odyssey` is the queue that pools use, on simulated time. README.md has the figures.
//
//     node bin/odyssey.cjs --run bench/routing/simulate.ts [--requests N] [--replicas N] [--seeds N] [--only TEXT]
//         [--conversation FILE] [--synthetic FILE]

import { parseArgs } from 'node:util'
import { odyssey, oracles, published, type Policy } from './policies.ts'
import type { SimulatedRequest } from './replica-model.ts'
import { flood, setsOf, type RequestSet } from './sets.ts'
import { simulate, type Result, type Setting } from './simulation.ts'
import { wholeNumber } from '../whole-number.ts'

const type = 'string'
const { values } = parseArgs({
  options: {
    requests: { type },
    replicas: { type },
    seeds: { type },
    only: { type, default: '' },
    conversation: { type },
    synthetic: { type },
  },
})
const count = wholeNumber('requests', values.requests, 3_000)
const replicas = wholeNumber('replicas', values.replicas, 8)
const seeds = Array.from({ length: wholeNumber('seeds', values.seeds, 6) }, (_, index) => index + 1)

function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

type Compared = { readonly result: Result; readonly oracle: Result }

/** Each policy on the same requests as the oracle, seed by seed. */
async function compare(set: RequestSet, policies: readonly Policy[], slow = 1): Promise<Map<string, Compared[]>> {
  const rows = new Map<string, Compared[]>()
  for (const seed of seeds) {
    const random = randomOf(seed)
    const requests = set.make(count, random)
    const setting: Setting = { replicas, slow, random }
    const known: Result[] = []
    for (const policy of oracles) known.push(await simulate(policy, requests, setting))
    const oracle = known.reduce((least, one) => (one.p99 < least.p99 ? one : least))
    rows.set('oracle', [...(rows.get('oracle') ?? []), { result: oracle, oracle }])
    for (const policy of policies) {
      const result = await simulate(policy, requests, setting)
      rows.set(policy.name, [...(rows.get(policy.name) ?? []), { result, oracle }])
    }
  }
  return rows
}

const mean = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length

function print(name: string, compared: readonly Compared[], slow: boolean): void {
  const of = (read: (one: Compared) => number) => mean(compared.map(read))
  const ratios = compared.map(({ result, oracle }) => result.p99 / oracle.p99)
  const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`
  const cells = [
    of(({ result }) => result.p50).toFixed(0),
    of(({ result }) => result.p99).toFixed(0),
    `${mean(ratios).toFixed(2)} (${range})`,
    `${(of(({ result }) => result.hit) * 100).toFixed(1)} %`,
    of(({ result }) => result.spread).toFixed(2),
    ...(slow ? [`${(of(({ result }) => result.slowShare) * 100).toFixed(0)} %`] : []),
  ]
  console.log(`| ${name} | ${cells.join(' | ')} |`)
}

function head(title: string, slow = false): void {
  const more = slow ? ' of a share to the slow one |' : ''
  console.log(`\n${title}\n\n| | P50 ms | P99 ms | P99 ÷ oracle's | hit | spread |${more}`)
  console.log(`| - |${' -: |'.repeat(slow ? 6 : 5)}`)
}

/** What one organization waits while another floods the pool, over what it waits alone. */
async function printFlood(): Promise<void> {
  const rows = { alone: [] as Result[], flooded: [] as Result[], firstCome: [] as Result[] }
  for (const seed of seeds) {
    const random = randomOf(seed)
    const { quiet, all } = flood(random)
    const setting = { replicas, slow: 1, random, organizationId: 'quiet' }
    const firstCome = (requests: readonly SimulatedRequest[]) =>
      requests.map((request) => ({ ...request, organizationId: 'one' }))
    rows.alone.push(await simulate(odyssey(), quiet, setting))
    rows.flooded.push(await simulate(odyssey(), all, setting))
    rows.firstCome.push(await simulate(odyssey(), firstCome(all), { replicas, slow: 1, random }))
  }
  const [alone, flooded] = [mean(rows.alone.map(({ p95 }) => p95)), mean(rows.flooded.map(({ p95 }) => p95))]
  const pace = (results: readonly Result[]) => mean(results.map(({ tokensPerSecond }) => tokensPerSecond))
  console.log(
    `\nOne organization asks for 64 × 8,000 tokens at once: P95 of the other ${flooded.toFixed(0)} ms, alone ${alone.toFixed(0)} ms: × ${(flooded / alone).toFixed(2)}; throughput ${((pace(rows.flooded) / pace(rows.firstCome)) * 100).toFixed(1)} % of first come, first served`,
  )
}

const policies = [...published, odyssey(), odyssey(2), odyssey(4), odyssey(2, 'none'), odyssey(4, 'none')]

for (const set of setsOf(values)) {
  if (!`${set.name} ${set.load}`.includes(values.only)) continue
  head(`${set.name}, ${set.load}`)
  const rows = await compare(set, policies)
  for (const [name, compared] of rows) print(name, compared, false)
  if (set.name.startsWith('Mooncake')) continue
  head(`${set.name}, ${set.load}, one replica three times slower`, true)
  for (const [name, compared] of await compare(set, [odyssey()], 3)) print(name, compared, true)
}
if ('flood'.includes(values.only)) await printFlood()
