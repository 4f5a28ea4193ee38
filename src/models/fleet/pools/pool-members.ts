import type { EngineStatus } from '../../../core/engine.ts'
import type { EngineRequest } from '../../../core/generation.ts'
import { ApiError } from '../../../core/error.ts'
import type { ReplicaConnection, ReplicaFault } from '../../../engines/remote/dialect.ts'
import type { UnderWay } from '../../../engines/remote/workplace.ts'
import { ReadyGate, type ReadyState } from '../../../engines/llama/ready-gate.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { BlockChain } from '../../../scheduling/pool/block-index.ts'
import { PlacementNews, type NewsChannel } from '../../../scheduling/pool/placement-news.ts'
import { PoolQueue, type Placement } from '../../../scheduling/pool/pool-queue.ts'
import type { ReplicaLoad } from '../../../scheduling/pool/replica-load.ts'
import { RetryBudget } from '../../../scheduling/pool/retry-budget.ts'
import { retryAfterMs } from '../../../scheduling/slot-queue.ts'
import type { Log } from '../../../telemetry/log.ts'
import { Membership, type MemberSources } from './membership.ts'
import { PoolReplica, type ReplicaSettings } from './pool-replica.ts'

/** How a pool hears of what other gateways do with its replicas; absent where there are none. */
export type PoolNews = { readonly gatewayId: string; readonly channel: NewsChannel }

export type PoolMembersOptions<Remote extends ReplicaConnection> = MemberSources & {
  readonly name: string
  readonly news?: PoolNews
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

type OwnStatus = Pick<EngineStatus, 'windowTokens' | 'features' | 'hasReportedCounts'>

/** Requests that may wait in the pool itself, where any replica can have them, beside those that are under way. */
const lookAhead = 64

/** The replicas of a pool: which of them may be given something, who waits for them, and who may try again. */
export class PoolMembers<Remote extends ReplicaConnection> {
  readonly #membership: Membership<Remote>
  readonly #options: PoolMembersOptions<Remote>
  readonly #queue: PoolQueue
  readonly #news: PlacementNews | null
  readonly #gate: ReadyGate
  readonly #budget = new RetryBudget()
  /** Those that could be given something when that was looked at last. */
  #lastUsable: ReadonlySet<PoolReplica<Remote>> = new Set()
  /** All were let go of or drained, and others are expected in their place, or the same ones back. */
  #expectsOthers = false
  #cancelExpecting = () => {}
  #isClosed = false

  constructor(options: PoolMembersOptions<Remote>) {
    const { clock, name: pool, news } = options
    this.#options = options
    this.#gate = new ReadyGate({
      clock,
      waitMsMax: options.readyWaitMsMax,
      state: () => (this.#isWorthWaiting ? 'loading' : this.state),
      readyInMs: () => null,
    })
    const replicas = () => this.replicas.map(({ load }) => load)
    this.#news =
      news === undefined ? null : new PlacementNews({ ...news, pool, clock, replicas, queue: () => this.#queue })
    this.#queue = new PoolQueue({ clock, replicas, ...(this.#news !== null && { observer: this.#news }) })
    this.#membership = new Membership({
      ...options,
      create: (settings) => this.#create(settings),
      onChanged: () => this.changed(),
    })
  }

  get replicas(): readonly PoolReplica<Remote>[] {
    return this.#membership.replicas
  }

  /** Which of them are started here, and how to replace those. */
  get membership(): Pick<Membership<Remote>, 'restartsOf' | 'roll'> {
    return this.#membership
  }

  get state(): ReadyState {
    if (this.#isClosed) return 'stopped'
    const preparation = this.#options.preparation()
    if (preparation !== 'ready') return preparation
    if (this.#usable.length > 0) return 'ready'
    // One that was not looked at yet may turn out well.
    if (this.#membership.isUnsettled || this.#loadsOthers) return 'loading'
    return this.#staying.every((replica) => this.#isOut(replica)) ? 'down' : 'loading'
  }

  /** Whether there are others in the place of those that were let go of. One that was drained loads nothing while it is away. */
  get #loadsOthers(): boolean {
    if (!this.#expectsOthers || this.#staying.length === 0) return false
    return this.#staying.every(({ isDraining }) => !isDraining)
  }

  /**
   * Whether requests wait although it is down: behind a name that stands for nothing others may come, and do once something
   * waits, and one that was drained comes back.
   */
  get #isWorthWaiting(): boolean {
    if (this.state !== 'down' || this.#options.preparation() !== 'ready') return false
    return this.#expectsOthers || this.#membership.hasEmptyName
  }

  get #staying(): readonly PoolReplica<Remote>[] {
    return this.replicas.filter((replica) => !this.#membership.isLeaving(replica))
  }

  /** Requests that wait for a replica. */
  get waiting(): number {
    return this.#queue.waiting
  }

  /** Further tries that are under way. */
  get retries(): number {
    return this.#budget.retries
  }

  /** What an engine tells of itself: `own` is what the members know nothing of, `answers` those that it was asked for. */
  statusOf(answers: Iterable<UnderWay>, own: OwnStatus): EngineStatus {
    const { state, waiting } = this
    return {
      ...own,
      state: state === 'stopped' ? 'closed' : state,
      // Counted where it is asked for: each admission asks for the rest, whatever number of answers is under way.
      get running() {
        return Math.max(0, runningOf(answers) - waiting)
      },
      waiting,
      slots: this.#usable.reduce((sum, { load }) => sum + load.runningMax, 0),
      lookAhead,
      guestSlots: lookAhead / 8,
    }
  }

  /** Why one of them is given nothing; null where nothing is wrong with any. */
  get reason(): string | null {
    const staying = this.#staying
    if (staying.length === 0) return 'No replica was found by name.'
    const failed = this.replicas.find(({ health }) => health.reason !== null)
    if (failed !== undefined) return failed.health.reason
    return staying.every(({ isDraining }) => isDraining) ? 'All of its replicas are drained.' : null
  }

  /** The smallest window that any of them has. */
  windowTokens(otherwise: number): number {
    const windows = this.replicas.flatMap(({ remote }) => remote.facts?.windowTokens ?? [])
    return windows.length === 0 ? otherwise : Math.min(...windows)
  }

  /** Resolves when the pool can take a request. */
  async ready(signal: AbortSignal): Promise<void> {
    // Nobody waits for replicas of which none can be reached.
    if (this.state === 'down' && !this.#isWorthWaiting) throw this.unavailable()
    await this.#gate.pass(signal)
    signal.throwIfAborted()
  }

  /** Waits for a replica with room. */
  async place(asked: AskedPlace, signal: AbortSignal): Promise<Placed<Remote>> {
    // An answer whose replica went with the pool would begin anew at another one.
    if (this.#isClosed) throw this.unavailable()
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
        this.#membership.sweep()
      },
    }
  }

  /** Whether a request may have a further try, and there is a replica for it that is not left out, or will be. */
  mayRetry({ retries, excluded }: Pick<AskedPlace, 'retries' | 'excluded'>): boolean {
    if (this.#isClosed || retries >= this.#options.retries) return false
    return this.#expectsOthers || this.#usable.some(({ id }) => !excluded.has(id))
  }

  /** Takes a further try for a request that failed, if there is one, and a replica for it. */
  takeRetry(asked: Pick<AskedPlace, 'retries' | 'excluded'>): boolean {
    return this.mayRetry(asked) && this.#budget.take()
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
    this.#look(usable)
    const ids = [...usable].map(({ id }) => id)
    this.#queue.refuseWhere(
      (excluded) => !this.#expectsOthers && ids.every((id) => excluded.has(id)),
      () => this.unavailable(),
    )
    this.#gate.wake()
    this.#queue.changed()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelExpecting()
    this.#queue.refuseWhere(
      () => true,
      () => this.unavailable(),
    )
    this.#queue.close()
    this.#news?.close()
    this.#gate.wake()
    await this.#membership.close()
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

  /**
   * Notes whether others are expected. Where the last ones are let go of that could be given something, those that come in
   * their place may need a moment, and so does one that is drained to be replaced: what waits, or is to go on, waits for them
   * as for replicas that load.
   */
  #look(usable: ReadonlySet<PoolReplica<Remote>>): void {
    const { clock, readyWaitMsMax } = this.#options
    const lost = [...this.#lastUsable].filter((replica) => !usable.has(replica))
    this.#lastUsable = usable
    if (usable.size > 0) return this.#expect(false)
    if (!lost.some(({ isDraining }) => isDraining)) return
    this.#expect(true)
    this.#cancelExpecting = clock.after(readyWaitMsMax, () => {
      this.#expect(false)
      this.changed()
    })
  }

  #expect(expectsOthers: boolean): void {
    this.#cancelExpecting()
    this.#expectsOthers = expectsOthers
  }

  #create(settings: ReplicaSettings): PoolReplica<Remote> {
    const { connect, prove, sharedCache, clock, log, random } = this.#options
    const remote = connect(settings)
    const reports = {
      prove: () => prove(remote),
      isAlone: () => this.#usable.length === 0,
      onChanged: () => this.changed(),
    }
    return new PoolReplica({ settings, remote, sharedCache, clock, log, random, ...reports })
  }

  /**
   * Whether it will not be there by itself soon: it is drained, or something is wrong with it. One that is started here says
   * nothing until it has loaded its weights.
   */
  #isOut(replica: PoolReplica<Remote>): boolean {
    const { state, reason } = replica.health
    if (replica.isDraining) return true
    return reason !== null && !(state === 'proving' && this.#membership.restartsOf(replica) !== null)
  }

  #find(load: ReplicaLoad): PoolReplica<Remote> {
    const replica = this.replicas.find((one) => one.load === load)
    if (replica === undefined) throw new Error('A replica was chosen that the pool does not have.')
    return replica
  }
}

function runningOf(answers: Iterable<UnderWay>): number {
  let running = 0
  for (const { isRunning } of answers) if (isRunning) running += 1
  return running
}
