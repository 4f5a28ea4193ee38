import { PlacementNews, type NewsChannel } from '../../src/scheduling/pool/placement-news.ts'
import { PoolQueue } from '../../src/scheduling/pool/pool-queue.ts'
import { ReplicaLoad } from '../../src/scheduling/pool/replica-load.ts'
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

/** Answers that each replica makes at a time. */
const running = 64
/** News are with the others after so long: what PostgreSQL's notices took at most in 99 of 100 times, and as much again. */
const newsMs = 20

/** What gateways know of each other: nothing, or what they tell each other. */
export type Knowledge = 'none' | 'news'

/** Pools' own queue, in so many gateways. */
export function odyssey(gateways = 1, knowledge: Knowledge = 'news'): Policy {
  const apart = knowledge === 'none' ? ' apart' : ''
  return {
    name: gateways === 1 ? 'odyssey' : `odyssey, ${gateways} gateways${apart}`,
    create(run) {
      const channel = gateways === 1 || knowledge === 'none' ? null : openChannel(run)
      const places = Array.from({ length: gateways }, (_, number) => openGateway(run, `gateway ${number}`, channel))
      let count = 0
      return (request) => places[count++ % gateways]?.(request)
    },
  }
}

function openChannel({ clock }: Run): NewsChannel {
  const hearers = new Set<(news: string) => void>()
  return {
    send(news) {
      clock.after(newsMs, () => {
        for (const one of news) for (const hear of hearers) hear(one)
      })
      return Promise.resolve()
    },
    subscribe(hear) {
      hearers.add(hear)
      return () => hearers.delete(hear)
    },
  }
}

function openGateway(
  { clock, replicas, submit }: Run,
  gatewayId: string,
  channel: NewsChannel | null,
): (request: SimulatedRequest) => void {
  const loads = new Map(
    replicas.map((replica) => {
      const load = new ReplicaLoad({ id: replica.id, clock, runningMax: running, heldTokensMax })
      load.share = 1
      return [load, replica] as const
    }),
  )
  const all = [...loads.keys()]
  const news =
    channel === null
      ? null
      : new PlacementNews({
          pool: 'pool',
          gatewayId,
          clock,
          channel,
          replicas: () => all,
          queue: () => queue,
        })
  const queue: PoolQueue = new PoolQueue({ clock, replicas: () => all, ...(news !== null && { observer: news }) })
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
