import type { Policy } from './policies.ts'
import { ReplicaModel, SimulatedClock, type SimulatedRequest } from './replica-model.ts'

export type Result = {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly hit: number
  /** The work of the busiest replica over the mean. */
  readonly spread: number
  /** What the first replica was given behind the first ten seconds, of an equal share. */
  readonly slowShare: number
  readonly tokensPerSecond: number
}

export type Setting = {
  readonly replicas: number
  /** The first replica is so many times slower. */
  readonly slow: number
  random(): number
  /** Whose first tokens are looked at; all where it is left out. */
  readonly organizationId?: string
}

const settledMs = 10_000

export async function simulate(
  policy: Policy,
  requests: readonly SimulatedRequest[],
  { replicas: count, slow, random, organizationId }: Setting,
): Promise<Result> {
  const clock = new SimulatedClock()
  const replicas = Array.from(
    { length: count },
    (_, index) => new ReplicaModel(`http://replica-${index}`, clock, index === 0 ? slow : 1),
  )
  const firstMs: number[] = []
  let [cachedTokens, ended, toSlow, settled, tokens] = [0, 0, 0, 0, 0]
  const place = policy.create({
    clock,
    replicas,
    random,
    submit(replica, request, onFirst = () => {}, onEnd = () => {}) {
      if (clock.nowMs() > settledMs) settled += 1
      if (clock.nowMs() > settledMs && replica === replicas[0]) toSlow += 1
      replica.submit(request, {
        onFirst(cached) {
          if (organizationId === undefined || request.organizationId === organizationId)
            firstMs.push(clock.nowMs() - request.atMs)
          cachedTokens += cached
          onFirst(cached)
        },
        onEnd() {
          ended += 1
          tokens += request.tokens + request.outputTokens
          onEnd()
        },
      })
    },
  })
  for (const request of requests) clock.after(request.atMs, () => place(request))
  while (ended < requests.length && clock.step()) for (let turn = 0; turn < 4; turn++) await Promise.resolve()
  const work = replicas.map(({ workMs }) => workMs)
  return {
    p50: quantile(firstMs, 0.5),
    p95: quantile(firstMs, 0.95),
    p99: quantile(firstMs, 0.99),
    hit: cachedTokens / requests.reduce((sum, request) => sum + request.tokens, 0),
    spread: (Math.max(...work) * work.length) / work.reduce((sum, one) => sum + one, 0),
    slowShare: (toSlow * replicas.length) / settled,
    tokensPerSecond: (tokens * 1_000) / clock.nowMs(),
  }
}

function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
