import type { AnyReplicaKind, ReplicaConnection } from '../../../engines/remote/dialect.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Log } from '../../../telemetry/log.ts'
import { followDns, type DnsResolver } from './dns-members.ts'
import { ManagedReplica, type ManagedSettings } from './managed/managed-replica.ts'
import type { PoolReplica, ReplicaSettings } from './pool-replica.ts'

/** Replicas that are alike but for their addresses, which a name stands for. */
export type NamedReplicas = Omit<ReplicaSettings, 'url'> & { readonly dns: string }

/** With what programs are started. */
export type ProcessSettings = { readonly folder: string; readonly environment: Readonly<Record<string, string>> }

/** Where the replicas of a pool come from, which are of these kinds. */
export type MemberSources<Kind extends AnyReplicaKind = AnyReplicaKind> = {
  readonly replicas: readonly (ReplicaSettings & { readonly kind: Kind })[]
  /** Names behind which there are replicas that come and go. */
  readonly names?: readonly (NamedReplicas & { readonly kind: Kind })[]
  readonly resolver?: DnsResolver
  /** Replicas that this gateway starts itself. */
  readonly commands?: readonly (ManagedSettings & { readonly kind: Kind })[]
  readonly processes?: ProcessSettings
}

export type MembershipOptions<Remote extends ReplicaConnection> = MemberSources & {
  readonly clock: Clock
  readonly log: Log
  create(settings: ReplicaSettings): PoolReplica<Remote>
  /** Others than before belong to it, or may be given something. */
  onChanged(): void
}

/** Which replicas belong to a pool: those with an address, those behind a name and those that are started here. */
export class Membership<Remote extends ReplicaConnection> {
  readonly #options: MembershipOptions<Remote>
  readonly #replicas: PoolReplica<Remote>[]
  /** Those that are gone, and finish what they have. */
  readonly #leaving = new Set<PoolReplica<Remote>>()
  /** Told when one that leaves has finished. */
  readonly #left = new Map<PoolReplica, () => void>()
  readonly #managed: readonly ManagedReplica[]
  readonly #stops: (() => Promise<void>)[]
  /** Names that stand for nothing now. */
  readonly #emptyNames = new Set<string>()
  /** Names that were not resolved yet, and programs that were not started. */
  #unsettled: number
  #isClosed = false

  constructor(options: MembershipOptions<Remote>) {
    const { names = [], commands = [], create } = options
    this.#options = options
    this.#replicas = options.replicas.map((settings) => create(settings))
    this.#unsettled = names.length + commands.length
    this.#managed = commands.map((settings) => this.#manage(settings))
    this.#stops = names.map((named) => this.#followName(named))
  }

  get replicas(): readonly PoolReplica<Remote>[] {
    return this.#replicas
  }

  /** Whether it is not known yet who belongs to it. */
  get isUnsettled(): boolean {
    return this.#unsettled > 0
  }

  /** Whether there is a name behind which others may come: it stands for nothing, which is no failure of anything. */
  get hasEmptyName(): boolean {
    return this.#emptyNames.size > 0
  }

  /** Whether it is gone, and only finishes what it has. */
  isLeaving(replica: PoolReplica<Remote>): boolean {
    return this.#leaving.has(replica)
  }

  /** How often a replica that is started here had to be started again; null for another one. */
  restartsOf(replica: PoolReplica): number | null {
    return this.#managed.find((one) => one.has(replica))?.restarts ?? null
  }

  /** Replaces the replicas that are started here one after another, with these commands in their order. */
  async roll(commands: readonly (readonly string[])[]): Promise<void> {
    for (const [at, managed] of this.#managed.entries()) await managed.roll(commands[at])
  }

  /** Lets go of what has nothing left to finish. */
  sweep(): void {
    for (const replica of this.#leaving) {
      if (replica.load.running > 0) continue
      this.#leaving.delete(replica)
      this.#replicas.splice(this.#replicas.indexOf(replica), 1)
      this.#left.get(replica)?.()
      this.#left.delete(replica)
      void replica.close()
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const left of this.#left.values()) left()
    await Promise.all([
      ...this.#stops.map((stop) => stop()),
      ...this.replicas.map((replica) => replica.close()),
      ...this.#managed.map((managed) => managed.close()),
    ])
  }

  #followName(named: NamedReplicas): () => Promise<void> {
    const { clock, log, resolver, onChanged } = this.#options
    let isFirst = true
    // Whoever waits for the pool to be ready waits for no name that nobody knows.
    const settle = () => {
      if (isFirst) this.#unsettled -= 1
      isFirst = false
    }
    const onFound = (addresses: readonly string[]) => {
      settle()
      this.#follow(named, addresses)
    }
    const onFailed = () => {
      settle()
      onChanged()
    }
    return followDns({ name: named.dns, clock, log, onFound, onFailed, ...(resolver !== undefined && { resolver }) })
  }

  /** Takes in the replicas that a name stands for now, and lets go of those that it stood for before. */
  #follow({ dns, ...settings }: NamedReplicas, addresses: readonly string[]): void {
    if (this.#isClosed) return
    if (addresses.length === 0) this.#emptyNames.add(dns)
    else this.#emptyNames.delete(dns)
    const wanted = new Set(addresses)
    for (const replica of this.replicas.filter(({ settings: { name } }) => name === dns)) {
      const isWanted = wanted.delete(replica.id)
      if (isWanted !== this.#leaving.has(replica)) continue
      if (isWanted) this.#leaving.delete(replica)
      else this.#leaving.add(replica)
      replica.drain(!isWanted)
    }
    for (const url of wanted) {
      if (this.replicas.some(({ id }) => id === url)) continue
      this.#join({ ...settings, url, name: dns })
    }
    this.sweep()
    this.#options.onChanged()
  }

  #manage(settings: ManagedSettings): ManagedReplica {
    const { clock, log, processes, onChanged } = this.#options
    if (processes === undefined) throw new Error('Nothing is known of how to start a program.')
    const managed = new ManagedReplica({
      ...processes,
      settings,
      clock,
      log,
      join: (found) => this.#join(found),
      leave: (replica) => this.#leave(replica),
    })
    void managed.start().finally(() => {
      this.#unsettled -= 1
      onChanged()
    })
    return managed
  }

  #join(settings: ReplicaSettings): PoolReplica<Remote> {
    const replica = this.#options.create(settings)
    this.#replicas.push(replica)
    void replica.prove()
    return replica
  }

  async #leave(replica: PoolReplica): Promise<void> {
    const found = this.replicas.find((one) => one === replica)
    if (found === undefined || this.#isClosed) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#left.set(replica, resolve)
    this.#leaving.add(found)
    found.drain(true)
    this.sweep()
    await promise
  }
}
