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

/** What is no longer than this is computed, or taken up from memory, in a moment. */
const shortTokens = 1_024

/**
 * The free slot whose content is missed least, beside slots at work where that makes little difference.
 *
 * Of organizations the one gives up a slot that holds most of them. Otherwise one that floods the engine would have all, and
 * whoever asks now and then would find nothing of its prompt each time.
 *
 * The library computes a step at once for slots whose numbers follow each other. Each gap between them parts it in two,
 * one after the other: four answers side by side took 15 ms a step, the same four with gaps 21 ms.
 */
export function slotToGiveUp(slots: Slots, free: ReadonlySet<number>, best: Candidate | undefined): number {
  const cost = (slot: number): readonly [kind: number, usedMs: number] => {
    const holding = slots[slot]
    if (holding === null || holding === undefined) return [0, 0]
    if (best !== undefined && slotOf(best) === slot) return [3, 0]
    return [holding.pins.length > 0 ? 2 : 1, holding.lastUsedMs]
  }
  const costs = [...free].map((slot) => ({ slot, cost: cost(slot) }))
  const kindLeast = Math.min(...costs.map(({ cost: [kind] }) => kind))
  const alike = costs.filter(({ cost: [kind] }) => kind === kindLeast)
  const held = (slot: number) => slotsHeld(slots, slots[slot]?.namespace)
  const heldMost = Math.max(...alike.map(({ slot }) => held(slot)))
  const cheapest = alike
    .filter(({ slot }) => held(slot) === heldMost)
    .toSorted((a, b) => a.cost[1] - b.cost[1])
    .map(({ slot }) => slot)
  // What was used last is the likeliest to be wanted again, which takes long where it is long.
  const isShort = (slot: number) => (slots[slot]?.tokens.length ?? 0) <= shortTokens
  const given = cheapest.filter((slot, age) => age < cheapest.length / 2 || isShort(slot))
  const [first] = given
  if (first === undefined) throw new Error('No slot is free.')
  const isAtWork = (slot: number) => slot >= 0 && slot < slots.length && !free.has(slot)
  const neighbours = (slot: number) => Number(isAtWork(slot - 1)) + Number(isAtWork(slot + 1))
  return given.reduce((chosen, slot) => (neighbours(slot) > neighbours(chosen) ? slot : chosen), first)
}

/** How many slots hold something of an organization. */
function slotsHeld(slots: Slots, namespace: string | undefined): number {
  return slots.filter((holding) => holding?.namespace === namespace).length
}

/** Where the part of a prompt comes from that `target` is given. */
export function sourceOf({ from }: Candidate, slots: Slots, target: number): CacheReport['source'] {
  if (from.kind !== 'slot') return from.kind
  if (slots[from.slot]?.isReadAhead === true) return 'disk'
  return from.slot === target ? 'slot' : 'copy'
}
