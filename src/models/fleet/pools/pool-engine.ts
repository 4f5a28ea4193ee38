import { createHash } from 'node:crypto'
import type { Engine, EngineStatus, Prepared } from '../../../core/engine.ts'
import type { EngineRequest } from '../../../core/generation.ts'
import { TextChild } from '../../../engines/llama/text-child.ts'
import type { ChildOptions } from '../../../engines/llama/child-options.ts'
import { isolationOf } from '../../../engines/remote/isolation.ts'
import { RemoteAnswer } from '../../../engines/remote/remote-answer.ts'
import { RemoteReplica } from '../../../engines/remote/remote-replica.ts'
import type { AskedLeg, RunningLeg, UnderWay, Workplace } from '../../../engines/remote/workplace.ts'
import type { ReplicaFault, ReplicaKind, TokenStep } from '../../../engines/remote/dialect.ts'
import { featuresOf, TableReader, type ModelText } from '../../../engines/text/model-text.ts'
import { isShort, mostPromptTokens } from '../../../engines/text/text-size.ts'
import type { Clock } from '../../../lib/clock.ts'
import { backgroundPriority } from '../../../lib/system/processor-priority.ts'
import { hashBlocks } from '../../../scheduling/pool/block-index.ts'
import type { Placement } from '../../../scheduling/pool/pool-queue.ts'
import type { Log } from '../../../telemetry/log.ts'
import type { MemberSources } from './membership.ts'
import { PoolMembers, type PoolNews } from './pool-members.ts'
import type { PoolReplica } from './pool-replica.ts'

export type PoolEngineOptions = MemberSources<ReplicaKind> & {
  readonly name: string
  readonly news?: PoolNews
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

/** Where no replica says what its window is. */
const windowDefault = 4_096
const describeAgainMs = 2_000

/** The replicas of one model as an engine: prompts are made here, and each is computed where it fits best. */
export class PoolEngine implements Engine {
  readonly name: string
  readonly #options: PoolEngineOptions
  readonly #texts: TextChild
  readonly #counts: TextChild
  readonly #members: PoolMembers<RemoteReplica>
  readonly #answers = new Set<UnderWay>()
  readonly #workplace: Workplace
  #known: { readonly model: ModelText; readonly reader: TableReader } | null = null
  #isClosed = false

  constructor(options: PoolEngineOptions) {
    const { clock } = options
    this.name = options.name
    this.#options = options
    this.#texts = new TextChild(options.text)
    this.#counts = new TextChild(options.text, backgroundPriority)
    this.#members = new PoolMembers({
      ...options,
      connect: ({ kind, url, key }) =>
        new RemoteReplica({ kind: kind as ReplicaKind, address: new URL(url), key, clock }),
      prove: (remote) => (this.#known === null ? null : remote.prove(this.#known.reader)),
      preparation: () => (this.#known !== null ? 'ready' : this.#texts.isDown ? 'down' : 'loading'),
    })
    this.#workplace = this.#createWorkplace()
    void this.#describe()
  }

  /** The counts of its answers are this service's own. */
  get counts() {
    return 'own' as const
  }

  get replicas(): readonly PoolReplica<RemoteReplica>[] {
    return this.#members.replicas
  }

  prepare(request: EngineRequest, signal: AbortSignal): Prepared {
    const isOnlyCounted = request.windowTokensMax === Infinity
    const tokensMax = !isOnlyCounted && isShort(request) ? mostPromptTokens(request) : null
    const answer = new RemoteAnswer(this.#workplace, request, signal, tokensMax)
    if (!answer.isOver) this.#answers.add(answer)
    return answer
  }

  status(): EngineStatus {
    return this.#members.statusOf(this.#answers, {
      windowTokens: this.#known === null ? null : this.#windowTokens,
      features: featuresOf[this.#known?.model.tools ?? 'own'],
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
    return this.#known === null ? 'The tokenizer is not loaded yet.' : this.#members.reason
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([this.#members.close(), this.#texts.close(), this.#counts.close()])
  }

  /** Tries until the tokenizer is loaded: nothing can be made into tokens before. */
  async #describe(): Promise<void> {
    const { clock, log } = this.#options
    try {
      const model = await this.#texts.describe(new AbortController().signal)
      this.#known = { model, reader: new TableReader(model.vocabulary) }
      await this.#members.proveAll()
    } catch (error) {
      if (this.#isClosed) return
      log.error({ error, pool: this.name }, 'the tokenizer of a pool cannot be loaded')
      clock.after(describeAgainMs, () => void this.#describe())
    }
  }

  get #windowTokens(): number {
    return Math.min(this.#members.windowTokens(windowDefault), this.#options.windowTokensMax ?? Infinity)
  }

  #createWorkplace(): Workplace {
    return {
      model: (signal) => this.#model(signal),
      text: (request, windowTokens, signal) => this.#texts.prepare(request, windowTokens, signal),
      count: (request, signal) => this.#counts.count(request, signal),
      begin: (asked, signal) => this.#begin(asked, signal),
      mayResume: (request, isUnderGrammar) => this.#mayResume(request, isUnderGrammar),
      takeRetry: (asked) => this.#members.takeRetry(asked),
      unavailable: () => this.#members.unavailable(),
      leave: (answer) => this.#answers.delete(answer),
      random: this.#options.random,
    }
  }

  async #model(signal: AbortSignal) {
    await this.#members.ready(signal)
    if (this.#known === null) throw this.#members.unavailable()
    return { ...this.#known, windowTokens: this.#windowTokens }
  }

  async #begin({ leg, request, excluded, retries }: AskedLeg, signal: AbortSignal): Promise<RunningLeg> {
    const { owner } = request
    const isolation = isolationOf(owner.organizationId)
    const chain = hashBlocks(leg.tokens, isolation)
    const wanted = { request, tokens: leg.tokens.length, chain, excluded, retries }
    const { replica, placement, end } = await this.#members.place(wanted, signal)
    // Where it comes back with others, this one belongs to those that it had.
    const { slots } = replica.load
    const slot = slots?.take(owner.organizationId, chain) ?? null
    const reader = this.#known?.reader
    if (reader === undefined) throw new Error('Nothing is known of the text of a pool that runs.')
    const { requestId, traceparent = null } = request
    const asked = { ...leg, isolation, requestId: `${requestId}-${++this.#lastLeg}`, traceparent, slot }
    const isAlone = !this.#members.mayRetry({ retries, excluded: new Set([...excluded, replica.id]) })
    // What comes with the whole answer took as long as that, and what comes under a new grammar as long as its masks.
    const isGrammarNew = leg.grammar !== null && this.#grammars.isNew(replica.id, leg.grammar)
    const isTimed = replica.remote.dialect.isWhole?.(asked) !== true && !isGrammarNew
    const onSteps = observe(placement, isTimed)
    const terms = { signal, tokensPerSecond: replica.load.tokensPerSecond, isAlone, onSteps }
    const answer = replica.remote.generate(asked, reader, terms)
    let isOver = false
    return {
      replicaId: replica.id,
      routing: placement.reason,
      steps: answer.steps,
      stop: () => answer.stop(),
      end: (outputTokens: number, fault: ReplicaFault | null) => {
        if (isOver) return
        isOver = true
        if (slot !== null) slots?.release(slot)
        end(outputTokens, fault)
      },
    }
  }

  #lastLeg = 0
  readonly #grammars = new GivenGrammars()

  #mayResume({ sampling }: EngineRequest, isUnderGrammar: boolean): boolean {
    const { resume } = this.#options
    if (resume === 'never') return false
    return sampling.temperature === 0 || (resume === 'always' && !isUnderGrammar)
  }
}

/** As many as an engine may well keep the masks of. */
const grammarsMost = 1_000

/** The grammars that replicas were given lately. An engine takes up to seconds for the masks of a new one, and keeps them. */
class GivenGrammars {
  readonly #given = new Set<string>()

  /** Whether a replica was not given this one before. From now on it was. */
  isNew(replicaId: string, grammar: string): boolean {
    const key = createHash('sha256').update(replicaId).update(grammar).digest('base64')
    const isNew = !this.#given.delete(key)
    this.#given.add(key)
    const [oldest] = this.#given
    if (this.#given.size > grammarsMost && oldest !== undefined) this.#given.delete(oldest)
    return isNew
  }
}

/** Tells when the prompt is computed, and how much of it was there already. */
function observe(placement: Placement, isTimed: boolean): (steps: readonly TokenStep[]) => void {
  let cached: number | null = null
  return (steps) => {
    for (const { cachedTokens, ids } of steps) {
      cached = cachedTokens ?? cached
      if (cachedTokens !== undefined) placement.held(cachedTokens)
      if (ids.length > 0) placement.prefilled(cached, isTimed)
    }
  }
}
