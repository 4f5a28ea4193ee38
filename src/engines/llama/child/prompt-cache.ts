import type { CacheReport } from '../../../core/generation.ts'
import type { DiskCache } from './disk-cache.ts'
import {
  findCandidates,
  isWorthMoving,
  slotOf,
  sourceOf,
  worthKeepingTokens,
  type Candidate,
  type Holding,
  type PromptToPlace,
} from './find-candidates.ts'
import { dropAll, livePins, pinnedLength, selectCheckpoints, usePins } from './held-prefix.ts'
import type { Checkpoint, SequenceMemory } from './sequence-memory.ts'
import type { Snapshot, SnapshotStore } from './snapshot-store.ts'
import { TokenList } from './token-list.ts'

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
  readonly slots: number
  nowMs(): number
  /** Something went wrong that costs warmth and nothing else. */
  onFault?(message: string): void
}

/**
 * Knows what each slot holds and finds every prompt the slot in which least is left to compute.
 *
 * A prefix that has to leave its slot is put aside in memory and comes back from there.
 * Nothing here runs while a step is being decoded.
 */
export class PromptCache {
  readonly #memory: SequenceMemory
  readonly #store: SnapshotStore
  readonly #disk: DiskCache | null
  readonly #nowMs: () => number
  readonly #onFault: (message: string) => void
  readonly #slots: (Holding | null)[]

  constructor({ memory, store, disk = null, slots, nowMs, onFault = () => {} }: PromptCacheOptions) {
    this.#memory = memory
    this.#store = store
    this.#disk = disk
    this.#nowMs = nowMs
    this.#onFault = onFault
    this.#slots = Array.from({ length: slots }, () => null)
  }

  /** Chooses one of the free slots for a prompt and brings into it what of the prompt is held anywhere. */
  async place(prompt: PromptToPlace, free: ReadonlySet<number>): Promise<Placement> {
    await this.#expire(free)
    const places = { slots: this.#slots, memory: this.#memory, store: this.#store, disk: this.#disk }
    const candidates = await findCandidates(places, prompt, this.#nowMs())
    const nearest = candidates.reduce((most, { shared }) => Math.max(most, shared), -1)
    const [best] = candidates
      .filter((candidate) => this.#staysInPlace(candidate, free) || isWorthMoving(candidate))
      .toSorted(
        (a, b) => b.usable - a.usable || Number(this.#staysInPlace(b, free)) - Number(this.#staysInPlace(a, free)),
      )
    const isInPlace = best !== undefined && this.#staysInPlace(best, free)
    const slot = isInPlace ? slotOf(best) : this.#target(free, best)
    const reused = await this.#bring(best, slot, isInPlace, prompt)
    this.#hold(slot, prompt, reused)
    const source = reused === 0 || best === undefined ? 'none' : sourceOf(best, slot)
    return { slot, reused, source, differsAt: nearest < 0 ? null : nearest }
  }

  /** Tokens that the slot has now computed. */
  extend(slot: number, tokens: Uint32Array): void {
    const holding = this.#slots[slot]
    if (holding === null || holding === undefined) return
    holding.tokens.push(tokens)
    holding.isUnsaved = true
  }

  /** Whether some free slot holds what a restart would lose. */
  hasUnsaved(free: ReadonlySet<number>): boolean {
    return this.#disk !== null && [...free].some((slot) => this.#isWorthSaving(this.#slots[slot]))
  }

  /** Writes what one free slot holds to the disk. */
  async saveOne(free: ReadonlySet<number>): Promise<void> {
    const slot = [...free].find((candidate) => this.#isWorthSaving(this.#slots[candidate]))
    const holding = slot === undefined ? null : this.#slots[slot]
    if (this.#disk === null || slot === undefined || holding === null || holding === undefined) return
    holding.isUnsaved = false
    const last = holding.checkpoints.at(-1)
    // A checkpoint does not outlive the process, and a next turn would go on from there and not from the end.
    if (!this.#memory.isWhole && last !== undefined && last.length < holding.tokens.length) {
      if (!(await this.#memory.restore(slot, last))) return this.#clear(slot)
      this.#forgetBehind(holding, last.length)
    }
    const { namespace, pins } = holding
    const tokens = holding.tokens.view().slice()
    const state = await this.#save(slot, tokens)
    if (state === null) return
    // A full disk costs the next restart its warmth and nothing else.
    await this.#disk.write({ namespace, tokens, pins, checkpoints: [] }, state).catch((error: unknown) => {
      this.#onFault(`A prompt could not be kept on the disk: ${String(error)}`)
    })
  }

  #isWorthSaving(holding: Holding | null | undefined): boolean {
    return holding?.isUnsaved === true && holding.tokens.length >= worthKeepingTokens
  }

  /** How many tokens the slot may compute before a checkpoint is due; null where none is. */
  untilCheckpoint(slot: number): number | null {
    const holding = this.#slots[slot]
    const next = holding?.due[0]
    return holding === null || holding === undefined || next === undefined ? null : next - holding.tokens.length
  }

  /** Takes the checkpoint that is due at the length the slot has reached. */
  async takeDueCheckpoint(slot: number): Promise<void> {
    const holding = this.#slots[slot]
    if (holding?.due[0] !== holding?.tokens.length || holding === null || holding === undefined) return
    holding.due.shift()
    holding.checkpoints.push(await this.#memory.checkpoint(slot))
    const { kept, dropped } = selectCheckpoints(holding.checkpoints, holding.pins)
    holding.checkpoints = kept
    dropAll(this.#memory, dropped)
  }

  /** Whether a free slot may go on from what it holds. It may not where more would be lost than is gained. */
  #staysInPlace({ from, usable, length }: Candidate, free: ReadonlySet<number>): boolean {
    if (from.kind !== 'slot' || !free.has(from.slot) || usable === 0) return false
    const lost = length - usable
    const pinned = pinnedLength(this.#slots[from.slot]?.pins ?? [], length)
    return pinned <= usable && (lost <= usable || lost < worthKeepingTokens)
  }

  /** The free slot whose content is missed least. */
  #target(free: ReadonlySet<number>, best: Candidate | undefined): number {
    const cost = (slot: number): readonly number[] => {
      const holding = this.#slots[slot]
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

  /** Fills a slot with the usable part of a candidate. Returns how many tokens it then holds. */
  async #bring(
    best: Candidate | undefined,
    slot: number,
    isInPlace: boolean,
    { tokens }: PromptToPlace,
  ): Promise<number> {
    const checkpoints = best === undefined ? [] : this.#checkpointsOf(best)
    // What is about to be used must not be what makes room for what leaves the slot.
    const taken = best?.from.kind === 'memory' ? best.from.snapshot : null
    if (taken !== null) this.#store.take(taken)
    const aside = isInPlace ? null : await this.#takeAside(slot)
    const isBrought = best !== undefined && (await this.#fill(best, slot, checkpoints))
    if (isBrought) this.#adopt(best, slot, tokens)
    else this.#clear(slot)
    const usable = isBrought ? best.usable : 0
    if (taken !== null) this.#giveBack(taken, usable)
    if (aside !== null) this.#store.add(aside)
    return usable
  }

  /** A snapshot that is used to its end lives on in the slot; one that cannot be taken up is of no use. */
  #giveBack(taken: Snapshot, usable: number): void {
    if (usable === 0) dropAll(this.#memory, taken.checkpoints)
    else if (usable < taken.stateLength) this.#store.add(taken)
  }

  async #fill({ from, usable, length }: Candidate, slot: number, checkpoints: readonly Checkpoint[]): Promise<boolean> {
    if (from.kind !== 'slot' || from.slot !== slot) {
      this.#clear(slot)
      if (from.kind === 'slot') await this.#memory.copy(slot, from.slot)
      else if (!(await this.#load(slot, from))) return false
    }
    return length === usable || this.#shorten(slot, usable, checkpoints)
  }

  async #load(slot: number, from: Exclude<Candidate['from'], { kind: 'slot' }>): Promise<boolean> {
    const state = from.kind === 'memory' ? from.snapshot.state : await this.#disk?.read(from.entry)
    return state !== null && state !== undefined && this.#memory.load(slot, state)
  }

  #checkpointsOf({ from }: Candidate): readonly Checkpoint[] {
    if (from.kind === 'slot') return this.#slots[from.slot]?.checkpoints ?? []
    return from.kind === 'memory' ? from.snapshot.checkpoints : []
  }

  async #shorten(slot: number, length: number, checkpoints: readonly Checkpoint[]): Promise<boolean> {
    if (this.#memory.canCutBack(slot, length)) return this.#memory.cutBack(slot, length)
    const checkpoint = checkpoints.find((candidate) => candidate.length === length)
    return checkpoint !== undefined && (await this.#memory.restore(slot, checkpoint))
  }

  /** Notes what a slot holds after a candidate was brought into it. */
  #adopt({ from, usable, length }: Candidate, slot: number, prompt: Uint32Array): void {
    const here = this.#slots[slot]
    if (here !== null && here !== undefined) return this.#forgetBehind(here, usable)
    const tokens = new TokenList()
    tokens.push(prompt.subarray(0, usable))
    const holding = { namespace: '', tokens, checkpoints: [], pins: [], due: [], lastUsedMs: 0, isUnsaved: false }
    this.#slots[slot] = holding
    if (from.kind === 'slot' || length > usable) return
    const { checkpoints, pins } = from.kind === 'memory' ? from.snapshot : from.entry
    this.#slots[slot] = { ...holding, checkpoints: [...checkpoints], pins }
  }

  #forgetBehind(holding: Holding, length: number): void {
    holding.tokens.cutBack(length)
    const gone = holding.checkpoints.filter((checkpoint) => checkpoint.length > length)
    holding.checkpoints = holding.checkpoints.filter((checkpoint) => checkpoint.length <= length)
    dropAll(this.#memory, gone)
  }

  #hold(slot: number, { namespace, breakpoints, conversationLength }: PromptToPlace, reused: number): void {
    const nowMs = this.#nowMs()
    const before = this.#slots[slot]
    const pins = (before?.pins ?? []).filter(({ length }) => length <= reused)
    const stops = [...breakpoints.map(({ length }) => length), conversationLength].filter((length) => length > reused)
    this.#slots[slot] = {
      namespace,
      tokens: before?.tokens ?? new TokenList(),
      checkpoints: before?.checkpoints ?? [],
      pins: usePins(pins, breakpoints, nowMs),
      due: this.#memory.isWhole ? [] : [...new Set(stops)].toSorted((a, b) => a - b),
      lastUsedMs: nowMs,
      isUnsaved: before?.isUnsaved ?? true,
    }
  }

  /** What a slot holds, as a snapshot, together with its checkpoints; null where it is not worth one. */
  async #takeAside(slot: number): Promise<Snapshot | null> {
    const holding = this.#slots[slot]
    if (!this.#store.isOn || holding === null || holding === undefined) return null
    if (holding.tokens.length < worthKeepingTokens) return null
    const tokens = holding.tokens.view().slice()
    const state = await this.#save(slot, tokens)
    if (state === null) return null
    const { namespace, checkpoints, pins, lastUsedMs } = holding
    holding.checkpoints = []
    return { namespace, tokens, stateLength: tokens.length, checkpoints, pins, state, lastUsedMs }
  }

  /** A state passes through a file, for which there may be no room; then it is computed again when it is wanted. */
  async #save(slot: number, tokens: Uint32Array): Promise<Buffer | null> {
    try {
      return await this.#memory.save(slot, tokens)
    } catch (error) {
      this.#onFault(`A prompt could not be put aside: ${String(error)}`)
      return null
    }
  }

  #clear(slot: number): void {
    dropAll(this.#memory, this.#slots[slot]?.checkpoints ?? [])
    this.#memory.clear(slot)
    this.#slots[slot] = null
  }

  /** What a client asked to keep for a time is gone after it, also where there would be room for more. */
  async #expire(free: ReadonlySet<number>): Promise<void> {
    const nowMs = this.#nowMs()
    this.#store.expire(nowMs)
    for (const slot of free) {
      const holding = this.#slots[slot]
      if (holding === null || holding === undefined) continue
      const pins = livePins(holding.pins, nowMs)
      if (pins === holding.pins) continue
      const length = pinnedLength(pins, holding.tokens.length)
      if (length === 0 || !(await this.#shorten(slot, length, holding.checkpoints))) {
        this.#clear(slot)
        continue
      }
      holding.pins = pins
      this.#forgetBehind(holding, length)
    }
  }
}
