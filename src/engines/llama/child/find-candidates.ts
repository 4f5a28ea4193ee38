import type { CacheReport } from '../../../core/generation.ts'
import type { DiskCache, DiskEntry } from './disk-cache.ts'
import { livePins, usableLength, type Pin } from './held-prefix.ts'
import type { Checkpoint, SequenceMemory } from './sequence-memory.ts'
import type { Snapshot, SnapshotStore } from './snapshot-store.ts'
import type { TokenList } from './token-list.ts'

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

export type Breakpoint = { readonly length: number; readonly lifetimeMs: number }

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

type Places = {
  readonly slots: readonly (Holding | null)[]
  readonly memory: SequenceMemory
  readonly store: SnapshotStore
  readonly disk: DiskCache | null
}

/** Everything that is held of a prompt's organization. What has outlived its lifetime does not count. */
export async function findCandidates(places: Places, prompt: PromptToPlace, nowMs: number): Promise<Candidate[]> {
  const { slots, memory, store, disk } = places
  const { namespace, tokens } = prompt
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
  const onDisk = ((await disk?.of(namespace)) ?? []).flatMap((entry): Candidate[] => {
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

export function sourceOf({ from }: Candidate, slot: number): CacheReport['source'] {
  if (from.kind !== 'slot') return from.kind
  return from.slot === slot ? 'slot' : 'copy'
}

export function slotOf({ from }: Candidate): number {
  return from.kind === 'slot' ? from.slot : -1
}
