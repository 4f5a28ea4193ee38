import { createHash } from 'node:crypto'
import type { Engine, EngineStatus, Prepared } from '../../../core/engine.ts'
import { ApiError } from '../../../core/error.ts'
import type { EngineRequest } from '../../../core/generation.ts'
import { ReadyGate, type ReadyState } from '../../../engines/llama/ready-gate.ts'
import { TextChild } from '../../../engines/llama/text-child.ts'
import type { ChildOptions } from '../../../engines/llama/supervisor.ts'
import { RemoteAnswer } from '../../../engines/remote/remote-answer.ts'
import type { AskedLeg, RunningLeg, UnderWay, Workplace } from '../../../engines/remote/workplace.ts'
import type { ReplicaFault, TokenStep } from '../../../engines/remote/dialect.ts'
import { featuresOf, TableReader, type ModelText } from '../../../engines/text/model-text.ts'
import { isShort, mostPromptTokens } from '../../../engines/text/text-size.ts'
import type { Clock } from '../../../lib/clock.ts'
import { backgroundPriority } from '../../../lib/yield-processor.ts'
import { hashBlocks } from '../../../scheduling/pool/block-index.ts'
import { PoolQueue, RetryBudget, type Placement } from '../../../scheduling/pool/pool-queue.ts'
import type { ReplicaLoad } from '../../../scheduling/pool/replica-load.ts'
import { retryAfterMs } from '../../../scheduling/slot-queue.ts'
import type { Log } from '../../../telemetry/log.ts'
import { PoolReplica, type ReplicaSettings } from './pool-replica.ts'

export type PoolEngineOptions = {
  readonly name: string
  readonly replicas: readonly ReplicaSettings[]
  readonly retries: number
  /** Answers that go on elsewhere when their replica is lost: none, those that would come out the same, or all. */
  readonly resume: 'never' | 'temperature-0' | 'always'
  readonly sharedCache: boolean
  readonly windowTokensMax: number | null
  /** The child that makes texts into tokens, with the tokenizer's file as its weights. */
  readonly text: ChildOptions
  readonly clock: Clock
  readonly log: Log
  readonly readyWaitMsMax: number
  random(): number
}

/** Requests that may wait in the pool itself, where any replica can have them, beside those that are under way. */
const lookAhead = 64
/** Where no replica says what its window is. */
const windowDefault = 4_096
const describeAgainMs = 2_000

/** The replicas of one model as an engine: prompts are made here, and each is computed where it fits best. */
export class PoolEngine implements Engine {
  readonly name: string
  readonly replicas: readonly PoolReplica[]
  readonly #options: PoolEngineOptions
  readonly #texts: TextChild
  readonly #counts: TextChild
  readonly #gate: ReadyGate
  readonly #queue: PoolQueue
  readonly #budget = new RetryBudget()
  readonly #answers = new Set<UnderWay>()
  readonly #workplace: Workplace
  #known: { readonly model: ModelText; readonly reader: TableReader } | null = null
  #isClosed = false

  constructor(options: PoolEngineOptions) {
    const { clock, random, log, sharedCache } = options
    this.name = options.name
    this.#options = options
    this.#texts = new TextChild(options.text)
    this.#counts = new TextChild(options.text, backgroundPriority)
    this.#gate = new ReadyGate({
      clock,
      waitMsMax: options.readyWaitMsMax,
      state: () => this.#state,
      readyInMs: () => null,
    })
    this.replicas = options.replicas.map(
      (settings) =>
        new PoolReplica({
          settings,
          sharedCache,
          clock,
          log,
          random,
          reader: () => this.#known?.reader ?? null,
          onChanged: () => this.#changed(),
        }),
    )
    this.#queue = new PoolQueue({ clock, replicas: () => this.replicas.map(({ load }) => load) })
    this.#workplace = this.#createWorkplace()
    void this.#describe()
  }

  prepare(request: EngineRequest, signal: AbortSignal): Prepared {
    const isOnlyCounted = request.windowTokensMax === Infinity
    const tokensMax = !isOnlyCounted && isShort(request) ? mostPromptTokens(request) : null
    const answer = new RemoteAnswer(this.#workplace, request, signal, tokensMax)
    if (!answer.isOver) this.#answers.add(answer)
    return answer
  }

  status(): EngineStatus {
    const state = this.#state
    let running = 0
    for (const answer of this.#answers) if (answer.isRunning) running += 1
    return {
      state: state === 'stopped' ? 'closed' : state,
      windowTokens: this.#known === null ? null : this.#windowTokens,
      features: featuresOf[this.#known?.model.tools ?? 'own'],
      running: Math.max(0, running - this.#queue.waiting),
      waiting: this.#queue.waiting,
      slots: this.#usable.reduce((sum, { load }) => sum + load.runningMax, 0) + lookAhead,
      guestSlots: lookAhead / 8,
    }
  }

  /** Further tries that are under way. */
  get retries(): number {
    return this.#budget.retries
  }

  /** Why it is not ready, for the operator alone. */
  get reason(): string | null {
    if (this.#known === null) return 'The tokenizer is not loaded yet.'
    return this.replicas.find(({ health }) => health.reason !== null)?.health.reason ?? null
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#queue.refuseWhere(
      () => true,
      () => this.#unavailable(),
    )
    this.#queue.close()
    this.#gate.wake()
    await Promise.all([this.#texts.close(), this.#counts.close(), ...this.replicas.map((replica) => replica.close())])
  }

  /** Tries until the tokenizer is loaded: nothing can be made into tokens before. */
  async #describe(): Promise<void> {
    const { clock, log } = this.#options
    try {
      const model = await this.#texts.describe(new AbortController().signal)
      this.#known = { model, reader: new TableReader(model.vocabulary) }
      await Promise.all(this.replicas.map((replica) => replica.prove()))
    } catch (error) {
      if (this.#isClosed) return
      log.error({ error, pool: this.name }, 'the tokenizer of a pool cannot be loaded')
      clock.after(describeAgainMs, () => void this.#describe())
    }
  }

  get #state(): ReadyState {
    if (this.#isClosed) return 'stopped'
    if (this.#known === null) return this.#texts.isDown ? 'down' : 'loading'
    if (this.#usable.length > 0) return 'ready'
    // One that was not looked at yet may turn out well.
    return this.replicas.every(({ health }) => health.reason !== null) ? 'down' : 'loading'
  }

  /**
   * Replicas that may be given something. Where more than half of them have been ejected for how they answer, those are used
   * all the same: then it is most likely not they who are at fault.
   */
  get #usable(): readonly PoolReplica[] {
    const open = this.replicas.filter(({ isDraining }) => !isDraining)
    const up = open.filter(({ health }) => health.state === 'up')
    if (up.length * 2 >= open.length) return up
    return open.filter(({ health }) => health.state === 'up' || (health.state === 'ejected' && !health.isUnreachable))
  }

  get #windowTokens(): number {
    const windows = this.replicas.flatMap(({ remote }) => remote.facts?.windowTokens ?? [])
    const least = windows.length === 0 ? windowDefault : Math.min(...windows)
    return Math.min(least, this.#options.windowTokensMax ?? Infinity)
  }

  #changed(): void {
    const usable = new Set(this.#usable)
    for (const replica of this.replicas) replica.load.share = usable.has(replica) ? replica.health.share : 0
    const ids = [...usable].map(({ id }) => id)
    this.#queue.refuseWhere(
      (excluded) => ids.every((id) => excluded.has(id)),
      () => this.#unavailable(),
    )
    this.#gate.wake()
    this.#queue.changed()
  }

  #createWorkplace(): Workplace {
    return {
      model: (signal) => this.#model(signal),
      text: (request, windowTokens, signal) => this.#texts.prepare(request, windowTokens, signal),
      count: (request, signal) => this.#counts.count(request, signal),
      begin: (asked, signal) => this.#begin(asked, signal),
      mayResume: (request, isUnderGrammar) => this.#mayResume(request, isUnderGrammar),
      takeRetry: (asked) => this.#takeRetry(asked),
      unavailable: () => this.#unavailable(),
      leave: (answer) => this.#answers.delete(answer),
      random: this.#options.random,
    }
  }

  async #model(signal: AbortSignal) {
    // Nobody waits for replicas of which none can be reached.
    if (this.#state === 'down') throw this.#unavailable()
    await this.#gate.pass(signal)
    signal.throwIfAborted()
    if (this.#known === null) throw this.#unavailable()
    return { ...this.#known, windowTokens: this.#windowTokens }
  }

  async #begin({ leg, request, excluded, retries }: AskedLeg, signal: AbortSignal): Promise<RunningLeg> {
    const { owner } = request
    const isolation = isolationOf(owner.organizationId)
    const chain = hashBlocks(leg.tokens, isolation)
    const giveRetry = () => {
      if (retries > 0) this.#budget.give()
    }
    const placement = await this.#queue
      .place({ owner, tokens: leg.tokens.length, chain, excluded }, signal)
      .catch((error: unknown) => {
        giveRetry()
        throw error
      })
    const replica = this.#find(placement.replica)
    const slot = replica.slots?.take(owner.organizationId, chain) ?? null
    const reader = this.#known?.reader
    if (reader === undefined) throw new Error('Nothing is known of the text of a pool that runs.')
    this.#budget.begin()
    const { requestId, traceparent = null } = request
    const asked = { ...leg, isolation, requestId: `${requestId}-${++this.#lastLeg}`, traceparent, slot }
    const terms = { signal, tokensPerSecond: replica.load.tokensPerSecond }
    let isOver = false
    return {
      replicaId: replica.id,
      steps: observe(replica.remote.generate(asked, reader, terms), placement),
      end: (outputTokens: number, fault: ReplicaFault | null) => {
        if (isOver) return
        isOver = true
        if (slot !== null) replica.slots?.release(slot)
        this.#budget.end()
        giveRetry()
        if (!signal.aborted || fault !== null) replica.ended(fault)
        placement.end(outputTokens)
      },
    }
  }

  #lastLeg = 0

  #find(load: ReplicaLoad): PoolReplica {
    const replica = this.replicas.find((one) => one.load === load)
    if (replica === undefined) throw new Error('A replica was chosen that the pool does not have.')
    return replica
  }

  #mayResume({ sampling }: EngineRequest, isUnderGrammar: boolean): boolean {
    const { resume } = this.#options
    if (resume === 'never') return false
    return sampling.temperature === 0 || (resume === 'always' && !isUnderGrammar)
  }

  #takeRetry({ retries, excluded }: AskedLeg): boolean {
    if (retries >= this.#options.retries) return false
    if (!this.#usable.some(({ id }) => !excluded.has(id))) return false
    return this.#budget.take()
  }

  #unavailable(): ApiError {
    const hint = retryAfterMs({ waiting: 0, slots: 1, runMs: null }, this.#options.random())
    return new ApiError(
      { code: 'overloaded', retryAfterMs: hint },
      'The model is not available. Please try again shortly.',
    )
  }
}

/** What replicas are told of whose a request is: nothing but that it is another's. */
function isolationOf(organizationId: string): string {
  return createHash('sha256').update(`pool ${organizationId}`).digest('hex').slice(0, 32)
}

/** Tells the placement when the prompt is computed. */
async function* observe(
  steps: AsyncGenerator<readonly TokenStep[]>,
  placement: Placement,
): AsyncGenerator<readonly TokenStep[]> {
  let cached: number | null = null
  for await (const some of steps) {
    for (const { cachedTokens, ids } of some) {
      cached = cachedTokens ?? cached
      if (ids.length > 0) placement.prefilled(cached)
    }
    yield some
  }
}
