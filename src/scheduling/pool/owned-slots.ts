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
 * a request would tell what another organization has asked.
 */
export class OwnedSlots {
  readonly #slots: Slot[]
  #uses = 0

  constructor(count: number) {
    this.#slots = Array.from({ length: count }, (_, id) => ({
      id,
      organizationId: null,
      chain: new Float64Array(),
      isBusy: false,
      usedAt: 0,
    }))
  }

  /** The free slot that holds most of a prompt, or else the one used longest ago; null where none is free. */
  take(organizationId: string, chain: BlockChain): TakenSlot | null {
    let best: Slot | null = null
    let bestShared = -1
    for (const slot of this.#slots) {
      if (slot.isBusy) continue
      const shared = slot.organizationId === organizationId ? sharedBlocks(slot.chain, chain) : 0
      const isBetter = shared > bestShared || (shared === bestShared && slot.usedAt < (best?.usedAt ?? Infinity))
      if (isBetter) [best, bestShared] = [slot, shared]
    }
    if (best === null) return null
    const mayReuse = best.organizationId === organizationId
    Object.assign(best, { organizationId, chain, isBusy: true, usedAt: ++this.#uses })
    return { id: best.id, mayReuse }
  }

  release({ id }: TakenSlot): void {
    const slot = this.#slots[id]
    if (slot !== undefined) slot.isBusy = false
  }
}

function sharedBlocks(held: BlockChain, wanted: BlockChain): number {
  let shared = 0
  while (shared < held.length && shared < wanted.length && held[shared] === wanted[shared]) shared += 1
  return shared
}
