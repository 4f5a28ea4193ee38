import { Gauge, type Registry } from 'prom-client'
import { canAnswer, type EngineStatus } from '../core/engine.ts'
import type { ModelId } from '../core/model.ts'

export type EngineNumbers = { readonly model: ModelId; readonly status: EngineStatus }

/** How one replica of a pool is. */
export type ReplicaNumbers = {
  readonly pool: string
  readonly replica: string
  readonly isUp: boolean
  readonly running: number
  readonly outstandingTokens: number
  readonly tokensPerSecond: number | null
  readonly hitRate: number | null
}

/** What the engines say of themselves, at every scrape. */
export function measureEngines(registry: Registry, readEngines: () => readonly EngineNumbers[]): void {
  const gauge = (name: string, help: string, read: (status: EngineStatus) => number | null) =>
    new Gauge({
      name: `odyssey_engine_${name}`,
      help,
      labelNames: ['model'],
      registers: [registry],
      collect() {
        for (const { model, status } of readEngines()) this.set({ model }, read(status) ?? 0)
      },
    })
  gauge('ready', 'Whether the model can answer.', ({ state }) => (canAnswer(state) ? 1 : 0))
  gauge('slots', 'Answers that can be generated at the same time.', ({ slots }) => slots)
  gauge('running', 'Generations that hold a slot; models that share a file share its slots.', ({ running }) => running)
  gauge('waiting', 'Generations that wait for a slot.', ({ waiting }) => waiting)
  gauge('window_tokens', 'Prompt and answer together.', ({ windowTokens }) => windowTokens)
}

/** What is known of the replicas of pools, at every scrape. */
export function measureReplicas(registry: Registry, readReplicas: () => readonly ReplicaNumbers[]): void {
  const gauge = (name: string, help: string, read: (replica: ReplicaNumbers) => number | null) =>
    new Gauge({
      name: `odyssey_replica_${name}`,
      help,
      labelNames: ['pool', 'replica'],
      registers: [registry],
      collect() {
        for (const numbers of readReplicas())
          this.set({ pool: numbers.pool, replica: numbers.replica }, read(numbers) ?? 0)
      },
    })
  gauge('up', 'Whether a replica of a pool is given requests.', ({ isUp }) => (isUp ? 1 : 0))
  gauge('running', 'Answers that a replica generates for this gateway.', ({ running }) => running)
  gauge(
    'outstanding_tokens',
    'Prompt tokens that a replica has yet to compute.',
    ({ outstandingTokens }) => outstandingTokens,
  )
  gauge(
    'prompt_tokens_per_second',
    'The pace of a replica, as measured of late.',
    ({ tokensPerSecond }) => tokensPerSecond,
  )
  gauge('cached_share', 'The share of prompt tokens that a replica had already.', ({ hitRate }) => hitRate)
}
