import { PoolQueue } from '../../src/scheduling/pool/pool-queue.ts'
import { ReplicaLoad } from '../../src/scheduling/pool/replica-load.ts'
import { every } from '../../src/lib/clock.ts'
import { heldTokensMax, type ReplicaModel, type SimulatedClock, type SimulatedRequest } from './replica-model.ts'

export type Run = {
  readonly clock: SimulatedClock
  readonly replicas: readonly ReplicaModel[]
  random(): number
  submit(replica: ReplicaModel, request: SimulatedRequest, onFirst?: (cached: number) => void, onEnd?: () => void): void
}

/** Places each request as it comes. */
export type Policy = { readonly name: string; create(run: Run): (request: SimulatedRequest) => void }

const leastBy = (run: Run, cost: (replica: ReplicaModel) => number) =>
  run.replicas.reduce((least, replica) => (cost(replica) < cost(least) ? replica : least))

type Choose = (run: Run, request: SimulatedRequest, count: number) => ReplicaModel

function immediate(name: string, choose: Choose): Policy {
  return {
    name,
    create: (run) => {
      let count = 0
      return (request) => run.submit(choose(run, request, count++), request)
    },
  }
}

const uncached = (replica: ReplicaModel, request: SimulatedRequest) => request.tokens - replica.cachedTokens(request)

/** All of them know what is in every cache and queue, which no real one does. */
export const published: readonly Policy[] = [
  immediate('random', ({ replicas, random }) => replicas[Math.floor(random() * replicas.length)]!),
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
  immediate('first-token time', (run, request) => leastBy(run, (replica) => replica.firstTokenMs(request))),
]

/** Greedy, with exact caches and queues; the better one of a set is its oracle. */
export const oracles: readonly Policy[] = [
  immediate('time', (run, request) =>
    leastBy(run, (replica) => replica.firstTokenMs(request) + replica.running * 0.35),
  ),
  immediate('work', (run, request) =>
    leastBy(run, (replica) => replica.queuedTokens + uncached(replica, request) * 1.5 + replica.running * 40),
  ),
]

/** What a replica says of its queue comes this often. */
const reportMs = 1_000
const running = 64

/** Pools' own queue, in so many gateways of which none knows what the others have placed. */
export function odyssey(gateways = 1): Policy {
  return {
    name: gateways === 1 ? 'odyssey' : `odyssey, ${gateways} gateways`,
    create(run) {
      const places = Array.from({ length: gateways }, () => openGateway(run, gateways > 1))
      let count = 0
      return (request) => places[count++ % gateways]?.(request)
    },
  }
}

function openGateway({ clock, replicas, submit }: Run, reports: boolean): (request: SimulatedRequest) => void {
  const loads = new Map(
    replicas.map((replica) => {
      const load = new ReplicaLoad({ id: replica.id, clock, runningMax: running, heldTokensMax })
      load.share = 1
      return [load, replica] as const
    }),
  )
  const all = [...loads.keys()]
  const queue = new PoolQueue({ clock, replicas: () => all })
  if (reports)
    every(clock, reportMs, async () => {
      for (const [load, replica] of loads) load.report(replica.queuedTokens)
      queue.changed()
    })
  const never = new AbortController().signal
  return (request) => {
    const { organizationId = 'one', tokens, chain } = request
    const owner = { organizationId, apiKeyId: 'key' }
    void queue.place({ owner, tokens, chain, excluded: new Set() }, never).then((placement) => {
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
