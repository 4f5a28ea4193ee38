import type { CacheReport } from '../../../../core/generation.ts'
import {
  findCandidates,
  findComing,
  isWorthMoving,
  isWorthWaiting,
  slotOf,
  type Candidate,
  type Coming,
  type Places,
  type PromptToPlace,
  worthKeepingTokens,
  type Holding,
} from './find-candidates.ts'
import { pinnedLength } from './held-prefix.ts'

/** Where a prompt goes, and what of it is brought there. */
export type Decision = {
  readonly slot: number
  /** Null where nothing that is held is of use. */
  readonly best: Candidate | null
  /** The slot goes on from what it holds. */
  readonly isInPlace: boolean
  readonly source: CacheReport['source']
  /** The most tokens that anything held begins with in common; null where nothing is held. */
  readonly nearest: number | null
}

/** Chooses the free slot in which least is left to compute, or says what the prompt does better to wait for. */
export async function decidePlacement(
  places: Places,
  prompt: PromptToPlace,
  free: ReadonlySet<number>,
  nowMs: number,
): Promise<Decision | { readonly waitsFor: Coming }> {
  const { slots } = places
  const candidates = await findCandidates(places, prompt, nowMs)
  const isHere = (candidate: Candidate) => staysInPlace(candidate, prompt, slots, free)
  const usable = candidates.filter((candidate) => isHere(candidate) || isWorthMoving(candidate))
  const coming = findComing(slots, prompt, free)
  if (coming !== null && isWorthWaiting(coming, usable, prompt)) return { waitsFor: coming }
  const [best] = usable.toSorted((a, b) => b.usable - a.usable || Number(isHere(b)) - Number(isHere(a)))
  const isInPlace = best !== undefined && isHere(best)
  const slot = isInPlace ? slotOf(best) : slotToGiveUp(slots, free, best)
  const source = best === undefined ? 'none' : sourceOf(best, slots, slot)
  const nearest = candidates.length === 0 ? null : Math.max(...candidates.map(({ shared }) => shared))
  return { slot, best: best ?? null, isInPlace, source, nearest }
}

type Slots = readonly (Holding | null)[]

/** Whether a free slot may go on from what it holds. It may not where more would be lost than is gained. */
export function staysInPlace(
  { from, usable, length }: Candidate,
  prompt: PromptToPlace,
  slots: Slots,
  free: ReadonlySet<number>,
): boolean {
  if (from.kind !== 'slot' || !free.has(from.slot) || usable === 0) return false
  const holding = slots[from.slot]
  if (holding === null || holding === undefined || pinnedLength(holding.pins, length) > usable) return false
  const lost = length - usable
  return lost <= usable || lost < worthKeepingTokens || isNextTurn(holding, usable, prompt)
}

/** All that a next turn gives up is the answer as it was written, which it repeats otherwise: without its thinking, say. */
function isNextTurn(holding: Holding, usable: number, prompt: PromptToPlace): boolean {
  const { conversationLength } = holding.prompt
  return usable >= conversationLength && prompt.conversationLength > conversationLength
}

/** The free slot whose content is missed least. */
export function slotToGiveUp(slots: Slots, free: ReadonlySet<number>, best: Candidate | undefined): number {
  const cost = (slot: number): readonly number[] => {
    const holding = slots[slot]
    if (holding === null || holding === undefined) return [0, 0]
    if (best !== undefined && slotOf(best) === slot) return [3, 0]
    return [holding.pins.length > 0 ? 2 : 1, holding.lastUsedMs]
  }
  const [slot] = [...free].toSorted((a, b) => {
    const [kindA = 0, usedA = 0] = cost(a)
    const [kindB = 0, usedB = 0] = cost(b)
    return kindA - kindB || usedA - usedB
  })
  if (slot === undefined) throw new Error('No slot is free.')
  return slot
}

/** Where the part of a prompt comes from that `target` is given. */
export function sourceOf({ from }: Candidate, slots: Slots, target: number): CacheReport['source'] {
  if (from.kind !== 'slot') return from.kind
  if (slots[from.slot]?.isReadAhead === true) return 'disk'
  return from.slot === target ? 'slot' : 'copy'
}
