import { keptPins, type DiskCache } from './disk-cache.ts'
import { worthKeepingTokens, type Holding } from './find-candidates.ts'
import type { HeldPrefix } from './held-prefix.ts'
import type { Checkpoint, SequenceMemory } from './sequence-memory.ts'
import type { SlotContents } from './slot-contents.ts'
import type { SavedState } from './state-room.ts'
import { commonPrefix } from './token-list.ts'

export type SavingParts = {
  readonly memory: SequenceMemory
  readonly contents: SlotContents
  readonly disk: DiskCache
  nowMs(): number
  /** Whether a request has come that waits for this to end. */
  isAwaited(): boolean
  /** The state of a slot, or null where it cannot be had. */
  save(slot: number, tokens: Uint32Array): Promise<SavedState | null>
  onFault(message: string): void
}

/** Writes what a slot that rests holds to the disk, so that its conversation is warm after a restart. */
export async function saveToDisk(parts: SavingParts, slot: number, holding: Holding): Promise<void> {
  const { memory, contents } = parts
  holding.isUnsaved = false
  const last = holding.checkpoints.at(-1)
  // A checkpoint does not outlive the process, and a next turn would go on from there and not from the end.
  if (!memory.isWhole && last !== undefined && last.length < holding.tokens.length) {
    if (!(await memory.restore(slot, last))) return contents.clear(slot)
    contents.forgetBehind(slot, last.length)
  }
  const { namespace, pins } = holding
  const tokens = holding.tokens.view().slice()
  const state = await parts.save(slot, tokens)
  if (state === null) return
  await write(parts, { namespace, tokens, pins, checkpoints: [] }, state)
  if (!memory.isWhole && (await savePinned(parts, slot, holding))) await takeBack(parts, slot, state)
  state.drop()
}

/**
 * Where a state cannot be cut back, other questions behind a pinned prefix need the state as it was there.
 * Returns whether the slot now holds one of those.
 */
async function savePinned(parts: SavingParts, slot: number, holding: Holding): Promise<boolean> {
  const { memory, contents } = parts
  let isMoved = false
  for (const checkpoint of pinnedBefore(holding)) {
    const held = upTo(checkpoint.length, holding)
    if (await isOnDisk(parts, held)) continue
    if (parts.isAwaited()) {
      // The next rest begins with it again.
      holding.isUnsaved = true
      break
    }
    isMoved = true
    if (!(await memory.restore(slot, checkpoint))) {
      contents.clear(slot)
      return false
    }
    const state = await parts.save(slot, held.tokens)
    if (state === null) continue
    await write(parts, held, state)
    state.drop()
  }
  return isMoved
}

/** The shortest of the checkpoints at pins: what most conversations begin with. The longest of them first, since each cuts the slot back. */
function pinnedBefore({ checkpoints, pins, tokens }: Holding): readonly Checkpoint[] {
  const isPinned = (length: number) => pins.some((pin) => pin.length === length)
  return checkpoints
    .filter(({ length }) => isPinned(length) && length >= worthKeepingTokens && length < tokens.length)
    .slice(0, keptPins)
    .toReversed()
}

function upTo(length: number, { namespace, pins, tokens }: Holding): HeldPrefix {
  const kept = pins.filter((pin) => pin.length <= length)
  return { namespace, tokens: tokens.view().slice(0, length), pins: kept, checkpoints: [] }
}

/** It is written anew when less than half of its lifetime is left there. */
async function isOnDisk({ disk, nowMs }: SavingParts, { namespace, tokens }: HeldPrefix): Promise<boolean> {
  const entries = await disk.of(namespace)
  return entries.some(
    (entry) =>
      entry.tokens.length === tokens.length &&
      commonPrefix(entry.tokens, tokens) === tokens.length &&
      entry.pins.every(({ untilMs, lifetimeMs }) => untilMs > nowMs() + lifetimeMs / 2),
  )
}

/** Brings the end of the conversation back into its slot. */
async function takeBack({ memory, contents }: SavingParts, slot: number, state: SavedState): Promise<void> {
  memory.clear(slot)
  if (!(await memory.load(slot, state))) contents.clear(slot)
}

/** A full disk costs the next restart its warmth and nothing else. */
async function write({ disk, memory, onFault }: SavingParts, held: HeldPrefix, state: SavedState): Promise<void> {
  await disk.write(held, state, memory.isWhole).catch((error: unknown) => {
    onFault(`A prompt could not be kept on the disk: ${String(error)}`)
  })
}
