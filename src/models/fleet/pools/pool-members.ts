import type { EngineStatus } from '../../../core/engine.ts'
import type { EngineRequest } from '../../../core/generation.ts'
import { ApiError } from '../../../core/error.ts'
import type { ReplicaConnection, ReplicaFault } from '../../../engines/remote/dialect.ts'
import type { UnderWay } from '../../../engines/remote/workplace.ts'
import { ReadyGate, type ReadyState } from '../../../engines/llama/ready-gate.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { BlockChain } from '../../../scheduling/pool/block-index.ts'
import { PlacementNews, type NewsChannel } from '../../../scheduling/pool/placement-news.ts'
import { PoolQueue, RetryBudget, type Placement } from '../../../scheduling/pool/pool-queue.ts'
import type { ReplicaLoad } from '../../../scheduling/pool/replica-load.ts'
import { retryAfterMs } from '../../../scheduling/slot-queue.ts'
import type { Log } from '../../../telemetry/log.ts'
import { followDns, type DnsResolver } from './dns-members.ts'
import { PoolReplica, type ReplicaSettings } from './pool-replica.ts'

/** How a pool hears of what other gateways do with its replicas; absent where there are none. */
export type PoolNews = { readonly gatewayId: string; readonly channel: NewsChannel }

export type PoolMembersOptions<Remote extends ReplicaConnection> = {
  readonly name: string
  readonly news?: PoolNews
  readonly replicas: readonly ReplicaSettings[]
  /** Names behind which there are replicas that come and go. */
  readonly names?: readonly NamedReplicas[]
  readonly resolver?: DnsResolver
  readonly retries: number
  readonly sharedCache: boolean
  readonly clock: Clock
  readonly log: Log
  readonly readyWaitMsMax: number
  random(): number
  connect(settings: ReplicaSettings): Remote
  /** Proves a replica; null while nobody can. */
  prove(remote: Remote): Promise<unknown> | null
  /** What has to be there beside replicas before the pool can take a request. */
  preparation(): ReadyState
}

/** Replicas that are alike but for their addresses, which a name stands for. */
export type NamedReplicas = Omit<ReplicaSettings, 'url'> & { readonly dns: string }

/** What a request asks of a pool, as far as it says where it may go. */
export type AskedPlace = {
  readonly request: Pick<EngineRequest, 'owner'>
  readonly tokens: number
  readonly chain: BlockChain
  /** Replicas that have failed this request. */
  readonly excluded: ReadonlySet<string>
  /** The tries of this request before. */
  readonly retries: number
}

/** A request that has its replica. */
export type Placed<Remote extends ReplicaConnection> = {
  readonly replica: PoolReplica<Remote>
  readonly placement: Placement
  /** The replica has done what it was asked for, or will not. A second call changes nothing. */
  end(outputTokens: number, fault: ReplicaFault | null): void
}

/** Requests that may wait in the pool itself, where any replica can have them, beside those that are under way. */
const lookAhead = 64

/** The replicas of a pool: which of them may be given something, who waits for them, and who may try again. */
export class PoolMembers<Remote extends ReplicaConnection> {
  readonly #replicas: PoolReplica<Remote>[]
  /** Those that are gone by name, and finish what they have. */
  readonly #leaving = new Set<PoolReplica<Remote>>()
  readonly #stops: (() => Promise<void>)[]
  /** Names that were not resolved yet. */
  #unresolved: number
  readonly #options: PoolMembersOptions<Remote>
  readonly #queue: PoolQueue
  readonly #news: PlacementNews | null
  readonly #gate: ReadyGate
  readonly #budget = new RetryBudget()
  #isClosed = false

  constructor(options: PoolMembersOptions<Remote>) {
    const { clock, log, names = [], resolver } = options
    this.#options = options
    this.#gate = new ReadyGate({
      clock,
      waitMsMax: options.readyWaitMsMax,
      state: () => this.state,
      readyInMs: () => null,
    })
    this.#replicas = options.replicas.map((settings) => this.#create(settings))
    this.#unresolved = names.length
    const replicas = () => this.replicas.map(({ load }) => load)
    const { name: pool, news } = options
    this.#news =
      news === undefined ? null : new PlacementNews({ ...news, pool, clock, replicas, queue: () => this.#queue })
    this.#queue = new PoolQueue({ clock, replicas, ...(this.#news !== null && { observer: this.#news }) })
    this.#stops = names.map((named) => {
      let isFirst = true
      // Whoever waits for the pool to be ready waits for no name that nobody knows.
      const settle = () => {
        if (isFirst) this.#unresolved -= 1
        isFirst = false
      }
      const onFound = (addresses: readonly string[]) => {
        settle()
        this.#follow(named, addresses)
      }
      const onFailed = () => {
        settle()
        this.changed()
      }
      return followDns({ name: named.dns, clock, log, onFound, onFailed, ...(resolver !== undefined && { resolver }) })
    })
  }

  get replicas(): readonly PoolReplica<Remote>[] {
    return this.#replicas
  }

  get state(): ReadyState {
    if (this.#isClosed) return 'stopped'
    const preparation = this.#options.preparation()
    if (preparation !== 'ready') return preparation
    if (this.#usable.length > 0) return 'ready'
    // One that was not looked at yet may turn out well.
    if (this.#unresolved > 0) return 'loading'
    return this.replicas.every(({ health }) => health.reason !== null) ? 'down' : 'loading'
  }

  /** Requests that wait for a replica. */
  get waiting(): number {
    return this.#queue.waiting
  }

  /** Further tries that are under way. */
  get retries(): number {
    return this.#budget.retries
  }

  /** What the pool has to do and may be given, as an engine tells it; `answers` are those that it was asked for. */
  statusOf(answers: Iterable<UnderWay>): Pick<EngineStatus, 'state' | 'running' | 'waiting' | 'slots' | 'guestSlots'> {
    const { state, waiting } = this
    let running = 0
    for (const answer of answers) if (answer.isRunning) running += 1
    return {
      state: state === 'stopped' ? 'closed' : state,
      running: Math.max(0, running - waiting),
      waiting,
      slots: this.#usable.reduce((sum, { load }) => sum + load.runningMax, 0) + lookAhead,
      guestSlots: lookAhead / 8,
    }
  }

  /** Why one of them is given nothing; null where nothing is wrong with any. */
  get reason(): string | null {
    if (this.replicas.length === 0) return 'No replica was found by name.'
    return this.replicas.find(({ health }) => health.reason !== null)?.health.reason ?? null
  }

  /** The smallest window that any of them has. */
  windowTokens(otherwise: number): number {
    const windows = this.replicas.flatMap(({ remote }) => remote.facts?.windowTokens ?? [])
    return windows.length === 0 ? otherwise : Math.min(...windows)
  }

  /** Resolves when the pool can take a request. */
  async ready(signal: AbortSignal): Promise<void> {
    // Nobody waits for replicas of which none can be reached.
    if (this.state === 'down') throw this.unavailable()
    await this.#gate.pass(signal)
    signal.throwIfAborted()
  }

  /** Waits for a replica with room. */
  async place(asked: AskedPlace, signal: AbortSignal): Promise<Placed<Remote>> {
    const { request, retries, ...wanted } = asked
    const giveRetry = () => {
      if (retries > 0) this.#budget.give()
    }
    const placement = await this.#queue.place({ owner: request.owner, ...wanted }, signal).catch((error: unknown) => {
      giveRetry()
      throw error
    })
    const replica = this.#find(placement.replica)
    this.#budget.begin()
    let isOver = false
    return {
      replica,
      placement,
      end: (outputTokens, fault) => {
        if (isOver) return
        isOver = true
        this.#budget.end()
        giveRetry()
        if (!signal.aborted || fault !== null) replica.ended(fault)
        placement.end(outputTokens)
        this.#sweep()
      },
    }
  }

  /** Takes a further try for a request that failed, if there is one, and a replica for it. */
  takeRetry({ retries, excluded }: Pick<AskedPlace, 'retries' | 'excluded'>): boolean {
    if (retries >= this.#options.retries) return false
    if (!this.#usable.some(({ id }) => !excluded.has(id))) return false
    return this.#budget.take()
  }

  unavailable(): ApiError {
    const hint = retryAfterMs({ waiting: 0, slots: 1, runMs: null }, this.#options.random())
    return new ApiError(
      { code: 'overloaded', retryAfterMs: hint },
      'The model is not available. Please try again shortly.',
    )
  }

  async proveAll(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.prove()))
  }

  /** Something has changed that decides who may be given what. */
  changed(): void {
    const usable = new Set(this.#usable)
    for (const replica of this.replicas) replica.load.share = usable.has(replica) ? replica.health.share : 0
    const ids = [...usable].map(({ id }) => id)
    this.#queue.refuseWhere(
      (excluded) => ids.every((id) => excluded.has(id)),
      () => this.unavailable(),
    )
    this.#gate.wake()
    this.#queue.changed()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#queue.refuseWhere(
      () => true,
      () => this.unavailable(),
    )
    this.#queue.close()
    this.#news?.close()
    this.#gate.wake()
    await Promise.all([...this.#stops.map((stop) => stop()), ...this.replicas.map((replica) => replica.close())])
  }

  /**
   * Replicas that may be given something. Where more than half of them have been ejected for how they answer, those are used
   * all the same: then it is most likely not they who are at fault.
   */
  get #usable(): readonly PoolReplica<Remote>[] {
    const open = this.replicas.filter(({ isDraining }) => !isDraining)
    const up = open.filter(({ health }) => health.state === 'up')
    if (up.length * 2 >= open.length) return up
    return open.filter(({ health }) => health.state === 'up' || (health.state === 'ejected' && !health.isUnreachable))
  }

  #create(settings: ReplicaSettings): PoolReplica<Remote> {
    const { connect, prove, sharedCache, clock, log, random } = this.#options
    const remote = connect(settings)
    return new PoolReplica({
      settings,
      remote,
      prove: () => prove(remote),
      sharedCache,
      clock,
      log,
      random,
      onChanged: () => this.changed(),
    })
  }

  /** Takes in the replicas that a name stands for now, and lets go of those that it stood for before. */
  #follow({ dns, ...settings }: NamedReplicas, addresses: readonly string[]): void {
    if (this.#isClosed) return
    const wanted = new Set(addresses)
    for (const replica of this.replicas.filter(({ settings: { name } }) => name === dns)) {
      const isWanted = wanted.delete(replica.id)
      if (isWanted === this.#leaving.has(replica)) replica.drain(!isWanted)
      if (isWanted) this.#leaving.delete(replica)
      else this.#leaving.add(replica)
    }
    for (const url of wanted) {
      if (this.replicas.some(({ id }) => id === url)) continue
      const replica = this.#create({ ...settings, url, name: dns })
      this.#replicas.push(replica)
      void replica.prove()
    }
    this.#sweep()
    this.changed()
  }

  /** Lets go of what has nothing left to finish. */
  #sweep(): void {
    for (const replica of this.#leaving) {
      if (replica.load.running > 0) continue
      this.#leaving.delete(replica)
      this.#replicas.splice(this.#replicas.indexOf(replica), 1)
      void replica.close()
    }
  }

  #find(load: ReplicaLoad): PoolReplica<Remote> {
    const replica = this.replicas.find((one) => one.load === load)
    if (replica === undefined) throw new Error('A replica was chosen that the pool does not have.')
    return replica
  }
}
