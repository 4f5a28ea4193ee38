import type { Engine, EngineStatus, Prepared } from '../../../core/engine.ts'
import type { Feature } from '../../../core/feature.ts'
import type { EngineRequest } from '../../../core/generation.ts'
import type { ReportedKind } from '../../../engines/remote/dialect.ts'
import { isolationOf } from '../../../engines/remote/isolation.ts'
import type { MessageStep } from '../../../engines/remote/messages/message-dialect.ts'
import type { AskedServer, MessagePlace, RunningServer } from '../../../engines/remote/messages/message-place.ts'
import { MessageReplica } from '../../../engines/remote/messages/message-replica.ts'
import { estimateMost, wordsOf } from '../../../engines/remote/messages/prompt-estimate.ts'
import { ReportedAnswer } from '../../../engines/remote/messages/reported-answer.ts'
import type { UnderWay } from '../../../engines/remote/workplace.ts'
import type { Clock } from '../../../lib/clock.ts'
import { hashBlocks } from '../../../scheduling/pool/block-index.ts'
import type { Placement } from '../../../scheduling/pool/pool-queue.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { MemberSources } from './membership.ts'
import { PoolMembers, type PoolNews } from './pool-members.ts'
import type { PoolReplica } from './pool-replica.ts'

export type ReportedEngineOptions = MemberSources<ReportedKind> & {
  readonly name: string
  readonly news?: PoolNews
  readonly retries: number
  readonly windowTokensMax: number | null
  readonly clock: Clock
  readonly log: Log
  readonly readyWaitMsMax: number
  random(): number
}

/** Where no server says what its window is. */
const windowDefault = 4_096

/** Servers of one model that take messages, as an engine: what they count is reported, and what they say is looked at. */
export class ReportedEngine implements Engine {
  readonly name: string
  readonly #options: ReportedEngineOptions
  readonly #members: PoolMembers<MessageReplica>
  readonly #answers = new Set<UnderWay>()
  readonly #place: MessagePlace
  #isClosed = false

  constructor(options: ReportedEngineOptions) {
    const { clock } = options
    this.name = options.name
    this.#options = options
    this.#members = new PoolMembers({
      ...options,
      sharedCache: true,
      connect: ({ kind, url, key, model = null }) =>
        new MessageReplica({ kind: kind as ReportedKind, address: new URL(url), key, model, clock }),
      prove: (remote) => remote.prove(),
      preparation: () => 'ready',
    })
    this.#place = {
      ready: (signal) => this.#ready(signal),
      begin: (asked, signal) => this.#begin(asked, signal),
      takeRetry: (asked) => this.#members.takeRetry(asked),
      unavailable: () => this.#members.unavailable(),
      leave: (answer) => this.#answers.delete(answer),
    }
    void this.#members.proveAll()
  }

  /** The counts of its answers are what the servers say. */
  get counts() {
    return 'reported' as const
  }

  get replicas(): readonly PoolReplica<MessageReplica>[] {
    return this.#members.replicas
  }

  prepare(request: EngineRequest, signal: AbortSignal): Prepared {
    const answer = new ReportedAnswer(this.#place, request, signal)
    if (!answer.isOver) this.#answers.add(answer)
    return answer
  }

  status(): EngineStatus {
    const isProved = this.replicas.some(({ remote }) => remote.facts !== null)
    return this.#members.statusOf(this.#answers, {
      windowTokens: isProved ? this.#windowTokens : null,
      features: this.#features,
      hasReportedCounts: true,
    })
  }

  /** Which replicas are started here, and how to replace those. */
  get membership() {
    return this.#members.membership
  }

  /** Further tries that are under way. */
  get retries(): number {
    return this.#members.retries
  }

  /** Why it is not ready, for the operator alone. */
  get reason(): string | null {
    return this.#members.reason
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#members.close()
  }

  /** What one server lacks, no request can count on. */
  get #features(): ReadonlySet<Feature> {
    const takesTools = this.replicas.every(({ remote: { facts } }) => facts === null || facts.takes.tools)
    return new Set(takesTools ? ['json-output', 'tools'] : ['json-output'])
  }

  get #windowTokens(): number {
    return Math.min(this.#members.windowTokens(windowDefault), this.#options.windowTokensMax ?? Infinity)
  }

  async #ready(signal: AbortSignal) {
    await this.#members.ready(signal)
    if (this.#isClosed) throw this.#members.unavailable()
    return { windowTokens: this.#windowTokens }
  }

  async #begin({ request, excluded, retries }: AskedServer, signal: AbortSignal): Promise<RunningServer> {
    const chain = hashBlocks(wordsOf(request), isolationOf(request.owner.organizationId))
    const wanted = { request, tokens: estimateMost(request), chain, excluded, retries }
    const { replica, placement, end } = await this.#members.place(wanted, signal)
    const { facts } = replica.remote
    if (facts === null) throw new Error('A server was chosen that nothing is known of.')
    return {
      replicaId: replica.id,
      routing: placement.reason,
      facts,
      ask: (message) => observe(replica.remote.generate(message, signal), placement),
      end,
    }
  }
}

/** Tells the placement when the prompt is computed. */
async function* observe(
  steps: AsyncGenerator<readonly MessageStep[]>,
  placement: Placement,
): AsyncGenerator<readonly MessageStep[]> {
  for await (const some of steps) {
    if (some.length > 0) placement.prefilled(null)
    yield some
  }
}
