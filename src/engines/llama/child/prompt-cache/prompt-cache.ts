import type { CacheReport } from '../../../../core/generation.ts'
import { decidePlacement, type Decision } from './decide-placement.ts'
import type { DiskCache, DiskEntry } from './disk-cache.ts'
import { worthKeepingTokens, type Candidate, type Holding, type PromptToPlace } from './find-candidates.ts'
import { dropAll, type HeldPrefix } from './held-prefix.ts'
import { ReadAhead } from './read-ahead.ts'
import { saveToDisk, type SavingParts } from './save-to-disk.ts'
import type { Checkpoint, SequenceMemory } from './sequence-memory.ts'
import { SlotContents } from './slot-contents.ts'
import type { Snapshot, SnapshotStore } from './snapshot-store.ts'
import type { SavedState } from './state-room.ts'
import { commonPrefix } from './token-list.ts'

export type Placement = {
  readonly slot: number
  /** Tokens of the prompt that need not be computed. */
  readonly reused: number
  readonly source: CacheReport['source']
  /** The first token in which the prompt differs from the nearest one held; null where none was held. */
  readonly differsAt: number | null
}

export type PromptCacheOptions = {
  readonly memory: SequenceMemory
  readonly store: SnapshotStore
  /** Null keeps nothing over a restart. */
  readonly disk?: DiskCache | null
  /** Where it has begun to read already. */
  readonly readAhead?: ReadAhead | null
  readonly slots: number
  nowMs(): number
  /** Something went wrong that costs warmth and nothing else. */
  onFault?(message: string): void
}

/**
 * Finds every prompt the slot in which least is left to compute, and brings there what is held of it.
 *
 * A prefix that has to leave its slot is put aside in memory and comes back from there.
 * Nothing here runs while a step is being decoded.
 */
export class PromptCache {
  readonly #memory: SequenceMemory
  readonly #store: SnapshotStore
  readonly #disk: DiskCache | null
  readonly #readAhead: ReadAhead | null
  readonly #nowMs: () => number
  readonly #onFault: (message: string) => void
  readonly #contents: SlotContents

  constructor({ memory, store, disk = null, readAhead, slots, nowMs, onFault = () => {} }: PromptCacheOptions) {
    this.#memory = memory
    this.#store = store
    this.#disk = disk
    this.#readAhead = readAhead ?? (disk === null ? null : new ReadAhead(disk))
    this.#nowMs = nowMs
    this.#onFault = onFault
    this.#contents = new SlotContents(memory, slots)
  }

  /**
   * Chooses one of the free slots for a prompt and brings into it what of the prompt is held anywhere.
   *
   * Null where the prompt does better to wait: another that is being computed will hold most of it.
   */
  async place(prompt: PromptToPlace, free: ReadonlySet<number>): Promise<Placement | null> {
    const nowMs = this.#nowMs()
    this.#store.expire(nowMs)
    for (const slot of free) await this.#contents.expire(slot, nowMs)
    const places = { slots: this.#contents.all(), memory: this.#memory, store: this.#store, disk: this.#disk }
    const decision = await decidePlacement(places, prompt, free, this.#nowMs())
    if ('waitsFor' in decision) {
      this.#contents.makeDue(decision.waitsFor)
      return null
    }
    const { slot, source, nearest } = decision
    const reused = await this.#bring(decision, prompt)
    this.#contents.begin(slot, prompt, reused, this.#nowMs())
    return { slot, reused, source: reused === 0 ? 'none' : source, differsAt: nearest }
  }

  /** Tokens that the slot has now computed. */
  extend(slot: number, tokens: Uint32Array): void {
    this.#contents.extend(slot, tokens)
  }

  /** The tokens that a slot has computed; valid until it computes more. */
  tokensOf(slot: number): Uint32Array {
    return this.#contents.tokensOf(slot)
  }

  /** How many tokens the slot may compute before it has to stop for a checkpoint; null where it need not. */
  untilCheckpoint(slot: number): number | null {
    return this.#contents.untilCheckpoint(slot)
  }

  /** Takes the checkpoints that are due at lengths the slot has reached. */
  takeDueCheckpoints(slot: number): Promise<void> {
    return this.#contents.takeDueCheckpoints(slot)
  }

  /** Keeps the first `accepted` tokens of those that the slot has computed ahead, and forgets the others. */
  settle(slot: number, draft: Uint32Array, accepted: number): void {
    this.extend(slot, draft.subarray(0, accepted))
    if (accepted === draft.length) return
    if (this.#memory.cutBack(slot, this.tokensOf(slot).length)) return
    this.#contents.clear(slot)
    throw new Error('What was computed ahead could not be taken back.')
  }

  /** Whether some free slot holds what a restart would lose. */
  hasUnsaved(free: ReadonlySet<number>): boolean {
    return this.#disk !== null && [...free].some((slot) => isWorthSaving(this.#contents.of(slot)))
  }

  /** Writes what one free slot holds to the disk, and leaves for later what can be left once `isAwaited`. */
  async saveOne(free: ReadonlySet<number>, isAwaited: () => boolean): Promise<void> {
    const slot = [...free].find((candidate) => isWorthSaving(this.#contents.of(candidate)))
    const holding = slot === undefined ? null : this.#contents.of(slot)
    if (this.#disk === null || slot === undefined || holding === null) return
    const save: SavingParts['save'] = (from, tokens) => this.#save(from, tokens)
    const parts = { memory: this.#memory, contents: this.#contents, disk: this.#disk, nowMs: this.#nowMs, save }
    await saveToDisk({ ...parts, isAwaited, onFault: this.#onFault }, slot, holding)
  }

  /** Resolves when something has been read ahead that can be taken up, or nothing is left; null after that. */
  readAhead(): Promise<void> | null {
    return this.#readAhead?.next((held) => this.#holdsAll(held)) ?? null
  }

  /** Takes up what has been read ahead: into a slot while one is empty, then into memory while there is room. */
  async takeReadAhead(free: ReadonlySet<number>): Promise<void> {
    const read = this.#readAhead?.take() ?? null
    if (read === null) return
    if (this.#holdsAll(read)) return read.state.drop()
    const { namespace, tokens, pins, state, usedMs } = read
    const slot = [...free].find((candidate) => this.#contents.of(candidate) === null)
    if (slot === undefined) {
      const stateLength = tokens.length
      const snapshot = { namespace, tokens, stateLength, checkpoints: [], pins, state, lastUsedMs: usedMs }
      if (this.#store.hasRoomFor(snapshot)) return this.#store.add(snapshot)
      this.#readAhead?.end()
    } else if (await this.#memory.load(slot, state)) await this.#contents.fillAhead(slot, read, usedMs)
    state.drop()
  }

  #holdsAll(held: HeldPrefix): boolean {
    const { namespace, tokens } = held
    const isHeld = (others: Uint32Array) => commonPrefix(others, tokens) === tokens.length
    return this.#contents.holdsAll(held) || this.#store.of(namespace).some((snapshot) => isHeld(snapshot.tokens))
  }

  /** Fills the slot with the usable part of what was chosen. Returns how many tokens it then holds. */
  async #bring({ best, slot, isInPlace }: Decision, { tokens }: PromptToPlace): Promise<number> {
    const checkpoints = best === null ? [] : this.#checkpointsOf(best)
    // What is about to be used must not be what makes room for what leaves the slot.
    const taken = best?.from.kind === 'memory' ? best.from.snapshot : null
    if (taken !== null) this.#store.take(taken)
    const aside = isInPlace ? null : await this.#takeAside(slot)
    const isBrought = best !== null && (await this.#fill(best, slot, checkpoints))
    if (isBrought) this.#adopt(best, slot, tokens)
    else this.#contents.clear(slot)
    if (isBrought && best.from.kind === 'disk') await this.#contents.checkpointLoaded(slot)
    const usable = isBrought ? best.usable : 0
    if (taken !== null) this.#giveBack(taken, usable)
    if (aside !== null) this.#store.add(aside)
    return usable
  }

  /** A snapshot that is used to its end lives on in the slot; one that cannot be taken up is of no use. */
  #giveBack(taken: Snapshot, usable: number): void {
    if (usable > 0 && usable < taken.stateLength) return this.#store.add(taken)
    if (usable === 0) dropAll(this.#memory, taken.checkpoints)
    taken.state.drop()
  }

  async #fill({ from, usable, length }: Candidate, slot: number, checkpoints: readonly Checkpoint[]): Promise<boolean> {
    if (from.kind !== 'slot' || from.slot !== slot) {
      this.#contents.clear(slot)
      if (!(await this.#load(slot, from))) return false
    }
    return length === usable || this.#contents.shorten(slot, usable, checkpoints)
  }

  async #load(slot: number, from: Candidate['from']): Promise<boolean> {
    if (from.kind === 'slot') return this.#memory.copy(slot, from.slot)
    if (from.kind === 'memory') return this.#memory.load(slot, from.snapshot.state)
    const state = await this.#readFromDisk(from.entry)
    if (state === null || state === undefined) return false
    const isLoaded = await this.#memory.load(slot, state)
    state.drop()
    return isLoaded
  }

  async #readFromDisk(entry: DiskEntry): Promise<SavedState | null | undefined> {
    const state = (await this.#readAhead?.takeStateOf(entry)) ?? (await this.#disk?.read(entry))
    await this.#disk?.markUsed(entry)
    return state
  }

  #checkpointsOf({ from }: Candidate): readonly Checkpoint[] {
    if (from.kind === 'slot') return this.#contents.of(from.slot)?.checkpoints ?? []
    return from.kind === 'memory' ? from.snapshot.checkpoints : []
  }

  /** Notes what a slot holds after a candidate was brought into it. */
  #adopt({ from, usable, length }: Candidate, slot: number, prompt: Uint32Array): void {
    if (this.#contents.of(slot) !== null) return this.#contents.forgetBehind(slot, usable)
    const tokens = prompt.subarray(0, usable)
    const isAlone = from.kind === 'slot' || length > usable
    const { checkpoints, pins } = isAlone ? nothingElse : from.kind === 'memory' ? from.snapshot : from.entry
    this.#contents.fill(slot, { tokens, checkpoints: [...checkpoints], pins })
  }

  /** What a slot holds, as a snapshot, together with its checkpoints; null where it is not worth one. */
  async #takeAside(slot: number): Promise<Snapshot | null> {
    const holding = this.#contents.of(slot)
    if (!this.#store.isOn || holding === null) return null
    // What was read ahead still lies on the disk.
    if (holding.tokens.length < worthKeepingTokens || holding.isReadAhead) return null
    const tokens = holding.tokens.view().slice()
    const state = await this.#save(slot, tokens)
    if (state === null) return null
    const { namespace, checkpoints, pins, lastUsedMs } = holding
    holding.checkpoints = []
    return { namespace, tokens, stateLength: tokens.length, checkpoints, pins, state, lastUsedMs }
  }

  /** There may be no room for a state; then it is computed again when it is wanted. */
  async #save(slot: number, tokens: Uint32Array): Promise<SavedState | null> {
    try {
      return await this.#memory.save(slot, tokens)
    } catch (error) {
      this.#onFault(`A prompt could not be put aside: ${String(error)}`)
      return null
    }
  }
}

const nothingElse = { checkpoints: [], pins: [] }

function isWorthSaving(holding: Holding | null): boolean {
  return holding?.isUnsaved === true && holding.tokens.length >= worthKeepingTokens
}
