// What the gateways of one pool tell each other of it: which requests wait at each and where it has placed others, what the
// replicas have yet to compute, and how fast they compute. Each then chooses as if all that wait did so in one queue, and
// places those that are its own.

import { every, type Clock } from '../../lib/clock.ts'
import type { BlockChain } from './block-index.ts'
import { itemBlocksMax, NoticeWriter, readBlocks, readNotice, type PlacementNotice } from './placement-notice.ts'
import type { PlacementObserver, PoolQueue, WaitingElsewhere } from './pool-queue.ts'
import type { Computed, ReplicaLoad } from './replica-load.ts'

/** The way from each gateway to all of them, the sender included. News may be lost, and come late. */
export type NewsChannel = {
  /** Resolves when the news are on their way. */
  send(news: readonly string[]): Promise<unknown>
  /** Returns the way to stop. */
  subscribe(hear: (news: string) => void): () => void
}

export type PlacementNewsOptions = {
  readonly pool: string
  readonly gatewayId: string
  readonly clock: Clock
  readonly channel: NewsChannel
  /** Where requests wait here. */
  queue(): Pick<PoolQueue, 'waitsElsewhere' | 'changed'>
  replicas(): readonly ReplicaLoad[]
}

/** What happens within this time is told together. */
const tellAgainMs = 100
/** What a gateway has under way is told anew at the latest after so long. */
const sayAgainMs = 400
/** Which requests wait is told anew whole after so long: news of one that has left may have been lost. */
const sayStillMs = 1_000
/** A gateway that says nothing for so long is gone, or has nothing under way. */
const silentMsMax = 1_000
const lookMs = 200
/** Told at once at most; where more was placed, others learn of it from what replicas say of their caches. */
const blocksMax = 16_384

/** Another gateway, as it was heard of. */
type Peer = {
  heardAtMs: number
  readonly waiting: Map<number, { readonly chain: BlockChain; leave(): void }>
}

export class PlacementNews implements PlacementObserver {
  readonly #options: PlacementNewsOptions
  readonly #changed = new Set<ReplicaLoad>()
  /** Requests that wait and were not told of yet, and those that were. */
  readonly #waiting = new Set<WaitingElsewhere>()
  readonly #told = new Map<WaitingElsewhere, number>()
  #left: (readonly [id: number, replica: ReplicaLoad | null])[] = []
  #placed: (readonly [ReplicaLoad, BlockChain])[] = []
  #computed: (readonly [ReplicaLoad, Computed])[] = []
  #placedBlocks = 0
  #lastId = 0
  #toldAtMs = -Infinity
  #saidStillAtMs = -Infinity
  #isTelling = false
  #cancelTelling: (() => void) | null = null
  readonly #peers = new Map<string, Peer>()
  readonly #stops: readonly (() => unknown)[]

  constructor(options: PlacementNewsOptions) {
    this.#options = options
    this.#stops = [
      options.channel.subscribe((text) => this.#hear(text)),
      every(options.clock, lookMs, () => this.#look()),
    ]
  }

  waits(request: WaitingElsewhere): void {
    this.#waiting.add(request)
    this.#plan()
  }

  placed(replica: ReplicaLoad, request: WaitingElsewhere): void {
    this.#changed.add(replica)
    // Of one that was told of, the others know the beginning.
    const isTold = this.#leave(request, replica)
    const chain = isTold ? request.chain.subarray(itemBlocksMax) : request.chain
    if (chain.length > 0 && this.#placedBlocks + chain.length <= blocksMax) {
      this.#placedBlocks += chain.length
      this.#placed.push([replica, chain])
    }
    this.#plan()
  }

  left(request: WaitingElsewhere): void {
    if (this.#leave(request, null)) this.#plan()
  }

  computed(replica: ReplicaLoad, computed: Computed): void {
    this.#computed.push([replica, computed])
    this.ended(replica)
  }

  ended(replica: ReplicaLoad): void {
    this.#changed.add(replica)
    this.#plan()
  }

  close(): void {
    this.#cancelTelling?.()
    for (const stop of this.#stops) stop()
  }

  /** Returns whether others have been told that it waits. */
  #leave(request: WaitingElsewhere, replica: ReplicaLoad | null): boolean {
    this.#waiting.delete(request)
    const id = this.#told.get(request)
    if (id === undefined) return false
    this.#told.delete(request)
    this.#left.push([id, replica])
    return true
  }

  #plan(): void {
    if (this.#isTelling || this.#cancelTelling !== null) return
    const { clock } = this.#options
    const pauseMs = Math.max(0, this.#toldAtMs + tellAgainMs - clock.monotonicMs())
    this.#cancelTelling = clock.after(pauseMs, () => void this.#tell())
  }

  async #tell(): Promise<void> {
    const { clock, channel } = this.#options
    this.#cancelTelling = null
    this.#isTelling = true
    this.#toldAtMs = clock.monotonicMs()
    try {
      await channel.send(this.#takeNotices(this.#toldAtMs))
    } catch {
      // What is under way is told anew soon, and so is which requests wait.
    }
    this.#isTelling = false
    if (this.#changed.size + this.#waiting.size + this.#left.length > 0) this.#plan()
  }

  #takeNotices(nowMs: number): readonly string[] {
    const { gatewayId: gateway, pool } = this.#options
    const writer = new NoticeWriter({ gateway, pool }, nowMs)
    for (const replica of this.#changed) writer.load(replica)
    for (const [replica, computed] of this.#computed) writer.computed(replica, computed)
    for (const request of this.#waiting) {
      this.#lastId += 1
      this.#told.set(request, this.#lastId)
      writer.waiting(this.#lastId, request)
    }
    for (const [replica, chain] of this.#placed) writer.placed(replica, chain)
    for (const [id, replica] of this.#left) writer.left(id, replica)
    if (nowMs - this.#saidStillAtMs >= sayStillMs) {
      this.#saidStillAtMs = nowMs
      writer.still([...this.#told.values()], this.#lastId)
    }
    this.#changed.clear()
    this.#waiting.clear()
    this.#computed = []
    this.#placed = []
    this.#left = []
    this.#placedBlocks = 0
    return writer.finish()
  }

  /** Says again what is under way, and forgets gateways that have said nothing. */
  #look(): void {
    const { clock, replicas, queue } = this.#options
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#toldAtMs >= sayAgainMs) {
      const busy = replicas().filter(({ own }) => own.running > 0)
      for (const replica of busy) this.#changed.add(replica)
      // One that only waits says so too, else it would be forgotten with what waits there.
      const [first] = replicas()
      if (busy.length === 0 && this.#told.size > 0 && first !== undefined) this.#changed.add(first)
      if (this.#changed.size > 0) this.#plan()
    }
    for (const [gatewayId, { heardAtMs, waiting }] of this.#peers) {
      if (nowMs - heardAtMs < silentMsMax) continue
      this.#peers.delete(gatewayId)
      for (const { leave } of waiting.values()) leave()
      for (const replica of replicas()) replica.peer(gatewayId, null)
      queue().changed()
    }
  }

  #hear(text: string): void {
    const { pool, gatewayId, clock, queue } = this.#options
    const notice = readNotice(text)
    if (notice === null || notice.pool !== pool || notice.gateway === gatewayId) return
    const nowMs = clock.monotonicMs()
    const peer = this.#peers.get(notice.gateway) ?? { heardAtMs: nowMs, waiting: new Map() }
    peer.heardAtMs = nowMs
    this.#peers.set(notice.gateway, peer)
    this.#take(notice, peer, nowMs)
    queue().changed()
  }

  #take(notice: PlacementNotice, peer: Peer, nowMs: number): void {
    const { queue, replicas } = this.#options
    const byId = new Map(replicas().map((replica) => [replica.id, replica]))
    const replicaAt = (at: number) => byId.get(notice.replicas[at] ?? '')
    for (const [at, outstanding, running, beganMsAgo, slots] of notice.loads) {
      const beganMs = beganMsAgo === null ? null : nowMs - beganMsAgo
      replicaAt(at)?.peer(notice.gateway, { outstanding, running, beganMs }, slots)
    }
    for (const [at, tokens, beganMsAgo, doneMsAgo] of notice.computed)
      replicaAt(at)?.computed({ tokens, beganMs: nowMs - beganMsAgo, doneMs: nowMs - doneMsAgo })
    for (const [id, tokens, waitedMs, creditMs, organizationId, blocks] of notice.waiting) {
      const chain = readBlocks(blocks)
      const arrivedMs = nowMs - waitedMs
      const leave = queue().waitsElsewhere({ tokens, chain, organizationId, arrivedMs, creditMs })
      peer.waiting.set(id, { chain, leave })
    }
    for (const [at, blocks] of notice.placed) replicaAt(at)?.index.add(readBlocks(blocks))
    for (const [at, id] of notice.left) {
      const gone = peer.waiting.get(id)
      if (gone === undefined) continue
      peer.waiting.delete(id)
      gone.leave()
      replicaAt(at)?.index.add(gone.chain)
    }
    for (const [first, last, ...ids] of notice.still) keepOnly(new Set(ids), first, last, peer)
  }
}

/** Of the requests of a peer from the first to the last, those that wait no more are thought of no more. */
function keepOnly(still: ReadonlySet<number>, first: number, last: number, { waiting }: Peer): void {
  for (const [id, { leave }] of waiting) {
    if (id < first || id > last || still.has(id)) continue
    waiting.delete(id)
    leave()
  }
}
