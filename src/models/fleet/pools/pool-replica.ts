import {
  isNotTaken,
  ReplicaFault,
  type AnyReplicaKind,
  type FaultKind,
  type ReplicaConnection,
  type ReplicaFacts,
} from '../../../engines/remote/dialect.ts'
import { every, type Clock } from '../../../lib/clock.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { OwnedSlots } from '../../../scheduling/pool/owned-slots.ts'
import { ReplicaHealth, type FailureKind } from '../../../scheduling/pool/replica-health.ts'
import { ReplicaLoad } from '../../../scheduling/pool/replica-load.ts'
import type { Log } from '../../../telemetry/log.ts'

export type ReplicaSettings = {
  readonly url: string
  readonly kind: AnyReplicaKind
  readonly key: string | null
  readonly runningMax: number | null
  /** The name that it was found by; absent for one with an address of its own. */
  readonly name?: string
  /** By what name a replica that takes messages is asked for its model; null takes what it names first. */
  readonly model?: string | null
}

export type PoolReplicaOptions<Remote extends ReplicaConnection> = {
  readonly settings: ReplicaSettings
  readonly remote: Remote
  readonly sharedCache: boolean
  readonly clock: Clock
  readonly log: Log
  random(): number
  /** Finds out what it is; null while nobody can. Rejects with a ReplicaFault that says what is wrong. */
  prove(): Promise<unknown> | null
  /** Whether no other one can be given anything, so that all waits for it. */
  isAlone(): boolean
  /** It may be given something that it could not before, or no more. */
  onChanged(): void
}

const tickMs = 1_000
/** Ejected while there are others, or not what it should be, it is looked at less often. */
const ejectedTicks = 5
const refusedTicks = 30
/** Where a replica does not say how many answers it makes at a time. */
const runningDefault = 64
/** Where it does not say what it can hold. */
const heldTokensDefault = 640_000

/** A replica of a pool: what it is, how it is, and what it has to do. */
export class PoolReplica<Remote extends ReplicaConnection = ReplicaConnection> {
  readonly id: string
  readonly remote: Remote
  readonly health: ReplicaHealth
  readonly load: ReplicaLoad
  readonly #options: PoolReplicaOptions<Remote>
  #isDraining = false
  #isLost = false
  #ticks = 0
  /** Whether it has answered well to a look after it since it was proved last. */
  #answersChecks = false
  #proof: Promise<void> | null = null
  #stop: () => Promise<void>

  constructor(options: PoolReplicaOptions<Remote>) {
    const { settings, clock, random } = options
    this.#options = options
    this.id = settings.url
    this.remote = options.remote
    this.health = new ReplicaHealth({ clock, random })
    this.load = new ReplicaLoad({
      id: this.id,
      clock,
      runningMax: settings.runningMax ?? runningDefault,
      heldTokensMax: heldTokensDefault,
    })
    this.#stop = every(clock, tickMs, () => this.#tick())
  }

  get settings(): ReplicaSettings {
    return this.#options.settings
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** It is given nothing more; what it has it finishes. */
  drain(isDraining: boolean): void {
    this.#isDraining = isDraining
    this.#options.onChanged()
  }

  /** Finds out at once whether it can be given anything. Who asks while that is under way waits for the same proof. */
  prove(): Promise<void> {
    this.#proof ??= this.#prove().finally(() => (this.#proof = null))
    return this.#proof
  }

  async #prove(): Promise<void> {
    const before = this.remote.facts
    const proving = this.#options.prove()
    if (proving === null) return
    try {
      await proving
      if (this.#isLost) return
      const { facts } = this.remote
      const isChanged = before === null || facts === null || isAnother(before, facts)
      if (isChanged) this.#resize()
      // Whatever it was away for, what it held is most likely gone.
      if (isChanged || this.health.state !== 'up') this.load.index.clear()
      this.health.proved(this.#options.isAlone())
      this.#options.log.info({ replica: this.id, ...facts }, 'replica proved')
    } catch (error) {
      if (!this.#isLost) this.#unproved(error as ReplicaFault)
    }
    this.#options.onChanged()
  }

  /** Notes how something ended that it was given; null where it went well. */
  ended(fault: ReplicaFault | null): void {
    if (fault === null) return this.health.succeeded()
    const { log } = this.#options
    const { kind, message, cause } = fault
    log.warn({ replica: this.id, kind, reason: message, cause }, 'replica failed')
    if (kind === 'overloaded') this.load.overloaded()
    else if (isFailure(kind)) this.#failed(kind, message)
    else if (kind === 'denied' && this.health.denied()) this.#doubt()
    this.#options.onChanged()
  }

  /** The program that it was is gone, and what comes in its place is another replica. */
  lost(reason: string): void {
    this.#isLost = true
    this.ended(new ReplicaFault('refused', reason))
    this.health.unproved(reason)
    this.#options.onChanged()
  }

  async close(): Promise<void> {
    this.remote.close()
    await this.#stop()
  }

  async #tick(): Promise<void> {
    if (this.#isLost) return
    this.#ticks += 1
    const { state } = this.health
    if (state === 'proving') return this.prove()
    if (state === 'refused') return this.#ticks % refusedTicks === 0 ? this.prove() : undefined
    const { isAlone } = this.#options
    if (state === 'ejected' && !isAlone() && this.#ticks % ejectedTicks !== 0) return
    const fault = await this.remote.check()
    if (state === 'ejected') {
      if (this.health.checked(fault === null, isAlone())) await this.prove()
      return
    }
    if (fault !== null) this.#notWell(fault)
    else if ((await this.remote.isRestarted?.()) === true) this.#doubt()
    else this.#answersChecks = true
    this.#options.onChanged()
  }

  /** Notes what is wrong with it by how it answers to a look after it. */
  #notWell({ kind, message }: ReplicaFault): void {
    // As long as it says so it is given nothing more, whatever else becomes of it.
    if (kind === 'unwell') this.load.overloaded()
    if (isFailure(kind)) this.#failed(kind, message)
    // Of one that never had an answer to that its silence says nothing.
    else if (kind === 'denied' && this.#answersChecks) this.#doubt()
  }

  /** Finds out whether it is still what it was, and leaves it alone meanwhile: one that denies everything does so fast, and is free for the next. */
  #doubt(): void {
    this.#answersChecks = false
    this.load.overloaded()
    void this.prove()
  }

  #failed(kind: FailureKind, reason: string): void {
    if (this.health.failed(kind, reason)) this.#options.log.error({ replica: this.id, reason }, 'replica ejected')
  }

  #unproved(fault: ReplicaFault): void {
    const reason = messageOf(fault)
    const isNews = this.health.reason !== reason
    if (isNotTaken(fault)) this.health.refuse(reason)
    else if (this.health.state === 'up' && isFailure(fault.kind)) this.#failed(fault.kind, reason)
    else this.health.unproved(reason)
    if (isNews) this.#options.log.warn({ replica: this.id, reason, cause: fault.cause }, 'replica not usable')
  }

  /** Takes what the replica says of its size. */
  #resize(): void {
    const { settings, sharedCache, random } = this.#options
    const { facts, isolates } = this.remote
    const slots = facts?.slots ?? null
    const wanted = settings.runningMax ?? slots ?? runningDefault
    const ownsSlots = !isolates && !sharedCache && slots !== null
    this.load.slots = ownsSlots ? new OwnedSlots(slots, Math.floor(random() * slots)) : null
    this.load.runningMax = ownsSlots ? Math.min(wanted, slots) : wanted
    this.load.index.resize(facts?.heldTokensMax ?? heldTokensDefault)
  }
}

/** Whether it was started anew, or is another version: one that is what it was keeps its slots, which may be in use. */
function isAnother(before: ReplicaFacts, now: ReplicaFacts): boolean {
  const isSameRun = before.identity === now.identity && before.version === now.version
  return !isSameRun || before.slots !== now.slots || before.heldTokensMax !== now.heldTokensMax
}

function isFailure(kind: FaultKind): kind is FailureKind {
  return kind !== 'overloaded' && kind !== 'rejected' && kind !== 'denied' && kind !== 'unfit'
}
