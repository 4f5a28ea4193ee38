import type { Checkpoint, SequenceMemory } from './sequence-memory.ts'
import { commonPrefix } from './token-list.ts'

/** A prefix that a client asked to keep, and until when. Each use begins its lifetime anew. */
export type Pin = { readonly length: number; readonly lifetimeMs: number; readonly untilMs: number }

/** Tokens whose state is held somewhere, for one organization alone. */
export type HeldPrefix = {
  readonly namespace: string
  readonly tokens: Uint32Array
  /** Shortest first; none where the model can be cut back anywhere. */
  readonly checkpoints: readonly Checkpoint[]
  readonly pins: readonly Pin[]
}

/** How much of a prompt can be taken from what is held. Its last token is always computed: its logits are needed. */
export function usableLength(
  held: HeldPrefix,
  prompt: Uint32Array,
  canCutBack: (length: number) => boolean,
): { readonly shared: number; readonly usable: number } {
  const shared = commonPrefix(held.tokens, prompt)
  const wanted = Math.min(shared, prompt.length - 1)
  if (wanted === held.tokens.length || canCutBack(wanted)) return { shared, usable: wanted }
  return { shared, usable: held.checkpoints.findLast(({ length }) => length <= wanted)?.length ?? 0 }
}

/** The pins that have not ended yet. */
export function livePins(pins: readonly Pin[], nowMs: number): readonly Pin[] {
  return pins.every(({ untilMs }) => untilMs > nowMs) ? pins : pins.filter(({ untilMs }) => untilMs > nowMs)
}

/** The length of the prefix that pins keep; an answer that was stopped early may not have come so far. */
export function pinnedLength(pins: readonly Pin[], heldLength: number): number {
  return pins.reduce((longest, { length }) => Math.max(longest, Math.min(length, heldLength)), 0)
}

/** The pins of a prefix after a request has used it and asked for more. */
export function usePins(pins: readonly Pin[], asked: readonly Omit<Pin, 'untilMs'>[], nowMs: number): Pin[] {
  const byLength = new Map<number, number>()
  for (const { length, lifetimeMs } of [...pins, ...asked]) {
    byLength.set(length, Math.max(byLength.get(length) ?? 0, lifetimeMs))
  }
  const used = [...byLength].map(([length, lifetimeMs]) => ({ length, lifetimeMs, untilMs: nowMs + lifetimeMs }))
  return used.toSorted((a, b) => a.length - b.length)
}

/** Beyond the pinned ones only the latest are worth their memory: a conversation goes on from its end. */
const loosePerPrefixMax = 2

/** The checkpoints to keep and those to drop. */
export function selectCheckpoints(
  checkpoints: readonly Checkpoint[],
  pins: readonly Pin[],
): { readonly kept: Checkpoint[]; readonly dropped: Checkpoint[] } {
  const pinned = new Set(pins.map(({ length }) => length))
  const loose = checkpoints.filter(({ length }) => !pinned.has(length))
  const dropped = loose.slice(0, Math.max(0, loose.length - loosePerPrefixMax))
  return { kept: checkpoints.filter((checkpoint) => !dropped.includes(checkpoint)), dropped }
}

export function dropAll(memory: SequenceMemory, checkpoints: readonly Checkpoint[]): void {
  for (const checkpoint of checkpoints) memory.drop(checkpoint)
}
