import type { BlockChain } from './block-index.ts'

type Slot = {
  readonly id: number
  /** Whose prompt it holds; null where nobody knows. */
  organizationId: string | null
  chain: BlockChain
  isBusy: boolean
  usedAt: number
}

export type TakenSlot = { readonly id: number; readonly mayReuse: boolean }

/**
 * The slots of a replica that does not keep organizations apart by itself.
 *
 * What a slot holds may be gone on from by the organization whose it is, and by nobody else: else the time and the count of
 * a request would tell what another organization has asked. What another gateway has put into a slot is nobody's here.
 */
export class OwnedSlots {
  readonly #slots: Slot[]
  /** Those that other gateways use, by their ids. */
  readonly #usedElsewhere = new Map<string, ReadonlySet<number>>()
  /** Those that were used since that was told last. */
  readonly #untold = new Set<number>()
  #uses = 0

  /** Gateways that begin with different slots seldom choose the same one before they have heard of each other. */
  constructor(count: number, first = 0) {
    this.#slots = Array.from({ length: count }, (_, at) => ({
      id: (first + at) % count,
      organizationId: null,
      chain: new Float64Array(),
      isBusy: false,
      usedAt: 0,
    }))
  }

  /** The free slot that holds most of a prompt, or else the one used longest ago; null where none is free. */
  take(organizationId: string, chain: BlockChain): TakenSlot | null {
    // Where all are in use elsewhere, one of those is waited for at the replica.
    const best = this.#best(organizationId, chain, true) ?? this.#best(organizationId, chain, false)
    if (best === null) return null
    const mayReuse = best.organizationId === organizationId
    Object.assign(best, { organizationId, chain, isBusy: true, usedAt: ++this.#uses })
    this.#untold.add(best.id)
    return { id: best.id, mayReuse }
  }

  release({ id }: TakenSlot): void {
    const slot = this.#find(id)
    if (slot !== undefined) slot.isBusy = false
  }

  /** For other gateways: the slots in use by their numbers, and by -1 less their number those used since this was asked last. */
  tell(): number[] {
    const busy = this.#slots.flatMap(({ id, isBusy }) => (isBusy ? [id] : []))
    const used = [...this.#untold].filter((id) => !busy.includes(id))
    this.#untold.clear()
    return [...busy, ...used.map((id) => -1 - id)]
  }

  /** What another gateway has told; null when that gateway is gone. */
  peer(gatewayId: string, told: readonly number[] | null): void {
    if (told === null) return void this.#usedElsewhere.delete(gatewayId)
    this.#usedElsewhere.set(gatewayId, new Set(told.filter((number) => number >= 0)))
    for (const number of told) {
      const slot = this.#find(number >= 0 ? number : -1 - number)
      if (slot !== undefined) Object.assign(slot, { organizationId: null, chain: new Float64Array() })
    }
  }

  #best(organizationId: string, chain: BlockChain, isUnused: boolean): Slot | null {
    let best: Slot | null = null
    let bestShared = -1
    for (const slot of this.#slots) {
      if (slot.isBusy || (isUnused && this.#isUsedElsewhere(slot.id))) continue
      const shared = slot.organizationId === organizationId ? sharedBlocks(slot.chain, chain) : 0
      const isBetter = shared > bestShared || (shared === bestShared && slot.usedAt < (best?.usedAt ?? Infinity))
      if (isBetter) [best, bestShared] = [slot, shared]
    }
    return best
  }

  #find(id: number): Slot | undefined {
    return this.#slots.find((slot) => slot.id === id)
  }

  #isUsedElsewhere(id: number): boolean {
    for (const used of this.#usedElsewhere.values()) if (used.has(id)) return true
    return false
  }
}

function sharedBlocks(held: BlockChain, wanted: BlockChain): number {
  let shared = 0
  while (shared < held.length && shared < wanted.length && held[shared] === wanted[shared]) shared += 1
  return shared
}
