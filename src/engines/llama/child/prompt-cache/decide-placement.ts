import type { CacheReport } from '../../../../core/generation.ts'
import { slotToGiveUp, sourceOf, staysInPlace } from './choose-slot.ts'
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
} from './find-candidates.ts'

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
