import type { Breakpoint } from '../../../text/prepared-text.ts'
import type { DiskCache, DiskEntry } from './disk-cache.ts'
import { livePins, usableLength, type Pin } from './held-prefix.ts'
import type { Checkpoint, SequenceMemory } from './sequence-memory.ts'
import type { Snapshot, SnapshotStore } from './snapshot-store.ts'
import { commonPrefix, type TokenList } from './token-list.ts'

/** A prompt that looks for a slot. */
export type PromptToPlace = {
  /** Nothing is ever shared between two namespaces. */
  readonly namespace: string
  readonly tokens: Uint32Array
  /** Prefixes the client asked to keep. */
  readonly breakpoints: readonly Breakpoint[]
  /** Where the conversation ends and the markup begins that opens the answer: a next turn goes on from there. */
  readonly conversationLength: number
}

/** What a slot holds, or is computing. */
export type Holding = {
  namespace: string
  readonly tokens: TokenList
  checkpoints: Checkpoint[]
  pins: readonly Pin[]
  /** Lengths at which a checkpoint is due, shortest first. */
  due: number[]
  lastUsedMs: number
  /** It holds what the disk does not. */
  isUnsaved: boolean
  /** It was read from the disk before anybody asked for it. */
  isReadAhead: boolean
  /** The prompt that is, or was, computed into the slot, as far as it will be of use to others. */
  prompt: Pick<PromptToPlace, 'tokens' | 'conversationLength'>
}

export type Candidate = {
  readonly from:
    | { readonly kind: 'slot'; readonly slot: number }
    | { readonly kind: 'memory'; readonly snapshot: Snapshot }
    | { readonly kind: 'disk'; readonly entry: DiskEntry }
  /** Tokens that are held there. */
  readonly length: number
  /** How many of them the prompt begins with, and how many of these can be used. */
  readonly shared: number
  readonly usable: number
}

/** A shorter prefix is computed again sooner than it is copied or put aside. */
export const worthKeepingTokens = 64

export type Places = {
  readonly slots: readonly (Holding | null)[]
  readonly memory: SequenceMemory
  readonly store: SnapshotStore
  readonly disk: DiskCache | null
}

/** Everything that is held of a prompt's organization. What has outlived its lifetime does not count. */
export async function findCandidates(places: Places, prompt: PromptToPlace, nowMs: number): Promise<Candidate[]> {
  const { slots, memory, store, disk } = places
  const { namespace, tokens } = prompt
  // First of all: whatever is listed below may be gone after a pause.
  const entries = (await disk?.of(namespace)) ?? []
  const inSlots = slots.flatMap((holding, slot): Candidate[] => {
    if (holding?.namespace !== namespace || livePins(holding.pins, nowMs) !== holding.pins) return []
    const held = { ...holding, tokens: holding.tokens.view() }
    const canCutBack = (length: number) => memory.canCutBack(slot, length)
    return [{ from: { kind: 'slot', slot }, length: held.tokens.length, ...usableLength(held, tokens, canCutBack) }]
  })
  const inMemory = store.of(namespace).map((snapshot): Candidate => {
    const usable = usableLength(snapshot, tokens, () => memory.isWhole)
    return { from: { kind: 'memory', snapshot }, length: snapshot.stateLength, ...usable }
  })
  const onDisk = entries.flatMap((entry): Candidate[] => {
    if (livePins(entry.pins, nowMs) !== entry.pins) return []
    const usable = usableLength(entry, tokens, () => memory.isWhole)
    return [{ from: { kind: 'disk', entry }, length: entry.tokens.length, ...usable }]
  })
  return [...inSlots, ...inMemory, ...onDisk]
}

/** Moving costs by all that is held there, computing by what is not. */
const movedPerUsedMax = 20

export function isWorthMoving({ usable, length }: Candidate): boolean {
  return usable >= worthKeepingTokens && length <= movedPerUsedMax * usable
}

/** A beginning of a prompt that is being computed for another one. */
export type Coming = { readonly slot: number; readonly holding: Holding; readonly length: number }

/** The longest beginning of a prompt that a slot at work will soon have computed, and that can be copied from it then. */
export function findComing(slots: Places['slots'], prompt: PromptToPlace, free: ReadonlySet<number>): Coming | null {
  const found = slots.flatMap((holding, slot): Coming[] => {
    if (holding?.namespace !== prompt.namespace || free.has(slot)) return []
    const length = Math.min(commonPrefix(holding.prompt.tokens, prompt.tokens), prompt.tokens.length - 1)
    return length > holding.tokens.length ? [{ slot, holding, length }] : []
  })
  return found.reduce<Coming | null>((most, one) => (one.length > (most?.length ?? 0) ? one : most), null)
}

/** Waiting costs a prompt its share of the steps until then, so it has to save most of what there is to compute. */
export function isWorthWaiting(
  { slot, length }: Coming,
  candidates: readonly Candidate[],
  { tokens }: PromptToPlace,
): boolean {
  const elsewhere = candidates.filter((candidate) => slotOf(candidate) !== slot)
  const usable = elsewhere.reduce((most, candidate) => Math.max(most, candidate.usable), 0)
  return length - usable >= worthKeepingTokens && 2 * (length - usable) >= tokens.length - usable
}

export function slotOf({ from }: Candidate): number {
  return from.kind === 'slot' ? from.slot : -1
}
