// Eight simulated replicas, nine ways to choose among them: how long the first token takes, how much is found in caches, and
// how evenly the work is spread. `odyssey` is the queue that pools use, on simulated time.
//
//     node bin/odyssey.cjs --run bench/routing/simulate.ts [--requests N] [--replicas N] [--slow N] [--seed N]

import { parseArgs } from 'node:util'
import { PoolQueue } from '../../src/scheduling/pool/pool-queue.ts'
import { ReplicaLoad } from '../../src/scheduling/pool/replica-load.ts'
import { heldTokensMax, ReplicaModel, SimulatedClock, type SimulatedRequest } from './replica-model.ts'
import { sets, type RequestSet } from './sets.ts'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '3000' },
    replicas: { type: 'string', default: '8' },
    /** The first replica is so many times slower. */
    slow: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
  },
})

type Result = {
  readonly p50: number
  readonly p99: number
  readonly hit: number
  readonly spread: number
  readonly slowShare: number
  readonly decisionUs: number
}
type Run = {
  readonly clock: SimulatedClock
  readonly replicas: readonly ReplicaModel[]
  submit(replica: ReplicaModel, request: SimulatedRequest, onFirst?: (cached: number) => void, onEnd?: () => void): void
}
/** Places each request as it comes. */
type Policy = { readonly name: string; create(run: Run): (request: SimulatedRequest) => void }

const leastBy = (run: Run, cost: (replica: ReplicaModel) => number) =>
  run.replicas.reduce((least, replica) => (cost(replica) < cost(least) ? replica : least))

function immediate(name: string, choose: (run: Run, request: SimulatedRequest, count: number) => ReplicaModel): Policy {
  return {
    name,
    create: (run) => {
      let count = 0
      return (request) => run.submit(choose(run, request, count++), request)
    },
  }
}

const uncached = (replica: ReplicaModel, request: SimulatedRequest) => request.tokens - replica.cachedTokens(request)

const policies: readonly Policy[] = [
  immediate('random', ({ replicas }) => replicas[Math.floor(draw() * replicas.length)]!),
  immediate('round robin', ({ replicas }, _, count) => replicas[count % replicas.length]!),
  immediate('least tokens', (run) => leastBy(run, (replica) => replica.queuedTokens + replica.running * 100)),
  immediate('threshold', (run, request) => {
    const counts = run.replicas.map(({ running }) => running)
    const [most, least] = [Math.max(...counts), Math.min(...counts)]
    if (most - least > 64 && most > 1.5 * least) return leastBy(run, ({ running }) => running)
    const best = leastBy(run, (replica) => -replica.cachedTokens(request))
    return best.cachedTokens(request) / request.tokens > 0.3 ? best : leastBy(run, ({ held }) => held.size)
  }),
  immediate('weighted', (run, request) =>
    leastBy(run, (replica) => -3 * (replica.cachedTokens(request) / request.tokens) + (2 * replica.running) / 64),
  ),
  immediate('product', (run, request) => leastBy(run, (replica) => uncached(replica, request) * (replica.running + 1))),
  {
    name: 'odyssey',
    create: createOwn,
  },
]
const oracles: readonly Policy[] = [
  immediate('oracle, time', (run, request) =>
    leastBy(run, (replica) => replica.firstTokenMs(request) + replica.running * 0.35),
  ),
  immediate('oracle, work', (run, request) =>
    leastBy(run, (replica) => replica.queuedTokens + uncached(replica, request) * 1.5 + replica.running * 40),
  ),
]

let decisions: number[] = []

function createOwn({ clock, replicas, submit }: Run): (request: SimulatedRequest) => void {
  const loads = new Map(
    replicas.map((replica) => {
      const load = new ReplicaLoad({ id: replica.id, clock, runningMax: 64, heldTokensMax })
      load.share = 1
      return [load, replica] as const
    }),
  )
  const queue = new PoolQueue({ clock, replicas: () => [...loads.keys()] })
  const owner = { organizationId: 'one', apiKeyId: 'key' }
  const never = new AbortController().signal
  return (request) => {
    const startedUs = performance.now() * 1_000
    const placed = queue.place({ owner, tokens: request.tokens, chain: request.chain, excluded: new Set() }, never)
    decisions.push(performance.now() * 1_000 - startedUs)
    void placed.then((placement) => {
      const replica = loads.get(placement.replica)!
      submit(
        replica,
        request,
        (cached) => placement.prefilled(cached),
        () => placement.end(request.outputTokens),
      )
    })
  }
}

let state = Number(values.seed)
function draw(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}

async function simulate(policy: Policy, requests: readonly SimulatedRequest[]): Promise<Result> {
  const clock = new SimulatedClock()
  const slow = Number(values.slow)
  const replicas = Array.from(
    { length: Number(values.replicas) },
    (_, index) => new ReplicaModel(`http://replica-${index}`, clock, index === 0 ? slow : 1),
  )
  const firstMs: number[] = []
  let cachedTokens = 0
  let ended = 0
  let toSlow = 0
  const place = policy.create({
    clock,
    replicas,
    submit(replica, request, onFirst = () => {}, onEnd = () => {}) {
      if (replica === replicas[0]) toSlow += 1
      replica.submit(request, {
        onFirst(cached) {
          firstMs.push(clock.nowMs() - request.atMs)
          cachedTokens += cached
          onFirst(cached)
        },
        onEnd() {
          ended += 1
          onEnd()
        },
      })
    },
  })
  decisions = []
  for (const request of requests) clock.after(request.atMs, () => place(request))
  while (ended < requests.length && clock.step()) for (let turn = 0; turn < 4; turn++) await Promise.resolve()
  const work = replicas.map(({ workMs }) => workMs)
  return {
    p50: quantile(firstMs, 0.5),
    p99: quantile(firstMs, 0.99),
    hit: cachedTokens / requests.reduce((sum, { tokens }) => sum + tokens, 0),
    spread: (Math.max(...work) * work.length) / work.reduce((sum, one) => sum + one, 0),
    slowShare: (toSlow * replicas.length) / requests.length,
    decisionUs: quantile(decisions, 0.99),
  }
}

function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

async function compare(set: RequestSet): Promise<void> {
  state = Number(values.seed)
  const requests = set.make(Number(values.requests), draw)
  console.log(`\n${set.name} at ${set.load}, ${requests.length} requests`)
  const known: Result[] = []
  for (const oracle of oracles) known.push(await simulate(oracle, requests))
  const best = known.reduce((least, one) => (one.p99 < least.p99 ? one : least))
  print('oracle (best of two)', best, best)
  for (const policy of policies) print(policy.name, await simulate(policy, requests), best)
}

function print(name: string, { p50, p99, hit, spread, slowShare, decisionUs }: Result, oracle: Result): void {
  const times = `first token P50 ${p50.toFixed(0).padStart(6)} ms, P99 ${p99.toFixed(0).padStart(7)} ms = ${(p99 / oracle.p99).toFixed(2).padStart(5)} x`
  const slow = Number(values.slow) === 1 ? '' : `, slow one ${(slowShare * 100).toFixed(0)} % of a share`
  const decision = decisionUs > 0 ? `, decision P99 ${decisionUs.toFixed(0)} us` : ''
  console.log(
    `  ${name.padEnd(22)} ${times}, hit ${(hit * 100).toFixed(1).padStart(5)} %, spread ${spread.toFixed(2)}${slow}${decision}`,
  )
}

for (const set of sets) await compare(set)
