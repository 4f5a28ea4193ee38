import type { CacheReport } from '../../../core/generation.ts'
import type { DiskCache } from './disk-cache.ts'
import { slotToGiveUp, sourceOf, staysInPlace } from './choose-slot.ts'
import {
  findCandidates,
  findComing,
  isWorthMoving,
  isWorthWaiting,
  slotOf,
  worthKeepingTokens,
  type Candidate,
  type Coming,
  type Holding,
  type PromptToPlace,
} from './find-candidates.ts'
import { dropAll, livePins, pinnedLength, selectCheckpoints, usePins, type HeldPrefix } from './held-prefix.ts'
import { ReadAhead } from './read-ahead.ts'
import type { Checkpoint, SequenceMemory } from './sequence-memory.ts'
import type { Snapshot, SnapshotStore } from './snapshot-store.ts'
import { commonPrefix, TokenList } from './token-list.ts'

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
  readonly #readAhead: ReadAhead | null
  readonly #nowMs: () => number
  readonly #onFault: (message: string) => void
  readonly #slots: (Holding | null)[]

  constructor({ memory, store, disk = null, slots, nowMs, onFault = () => {} }: PromptCacheOptions) {
    this.#memory = memory
    this.#store = store
    this.#disk = disk
    this.#readAhead = disk === null ? null : new ReadAhead(disk)
    this.#nowMs = nowMs
    this.#onFault = onFault
    this.#slots = Array.from({ length: slots }, () => null)
  }

  /**
   * Chooses one of the free slots for a prompt and brings into it what of the prompt is held anywhere.
   *
   * Null where the prompt does better to wait: another that is being computed will hold most of it.
   */
  async place(prompt: PromptToPlace, free: ReadonlySet<number>): Promise<Placement | null> {
    await this.#expire(free)
    const places = { slots: this.#slots, memory: this.#memory, store: this.#store, disk: this.#disk }
    const candidates = await findCandidates(places, prompt, this.#nowMs())
    const nearest = candidates.reduce((most, { shared }) => Math.max(most, shared), -1)
    const isHere = (candidate: Candidate) => staysInPlace(candidate, prompt, this.#slots, free)
    const usable = candidates.filter((candidate) => isHere(candidate) || isWorthMoving(candidate))
    const coming = findComing(this.#slots, prompt, free)
    if (coming !== null && isWorthWaiting(coming, usable, prompt)) {
      this.#makeDue(coming)
      return null
    }
    const [best] = usable.toSorted((a, b) => b.usable - a.usable || Number(isHere(b)) - Number(isHere(a)))
    const isInPlace = best !== undefined && isHere(best)
    const slot = isInPlace ? slotOf(best) : slotToGiveUp(this.#slots, free, best)
    const source = best === undefined ? 'none' : sourceOf(best, this.#slots, slot)
    const reused = await this.#bring(best, slot, isInPlace, prompt)
    this.#hold(slot, prompt, reused)
    return { slot, reused, source: reused === 0 ? 'none' : source, differsAt: nearest < 0 ? null : nearest }
  }

  /** Tokens that the slot has now computed. */
  extend(slot: number, tokens: Uint32Array): void {
    const holding = this.#slots[slot]
    if (holding === null || holding === undefined) return
    holding.tokens.push(tokens)
    holding.isUnsaved = true
  }

  /** The tokens that a slot has computed; valid until it computes more. */
  tokensOf(slot: number): Uint32Array {
    return this.#slots[slot]?.tokens.view() ?? new Uint32Array()
  }

  /** Of tokens that the slot has computed ahead it keeps the first `accepted` ones and forgets the others. */
  settle(slot: number, draft: Uint32Array, accepted: number): void {
    this.extend(slot, draft.subarray(0, accepted))
    if (accepted === draft.length) return
    if (this.#memory.cutBack(slot, this.tokensOf(slot).length)) return
    this.#clear(slot)
    throw new Error('What was computed ahead could not be taken back.')
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

  /** Resolves when something has been read ahead that can be taken up, or nothing is left; null after that. */
  readAhead(): Promise<void> | null {
    return this.#readAhead?.next() ?? null
  }

  /** Takes up what has been read ahead: into a slot while one is empty, then into memory while there is room. */
  async takeReadAhead(free: ReadonlySet<number>): Promise<void> {
    const read = this.#readAhead?.take() ?? null
    if (read === null || this.#holdsAll(read)) return
    const { namespace, tokens, pins, state, usedMs } = read
    const slot = [...free].find((candidate) => this.#slots[candidate] === null)
    if (slot === undefined) {
      const stateLength = tokens.length
      const snapshot = { namespace, tokens, stateLength, checkpoints: [], pins, state, lastUsedMs: usedMs }
      if (this.#store.hasRoomFor(snapshot)) this.#store.add(snapshot)
      else this.#readAhead?.end()
    } else if (await this.#memory.load(slot, state)) {
      const list = new TokenList()
      list.push(tokens)
      this.#slots[slot] = { ...createHolding(namespace, list), pins, lastUsedMs: usedMs, isReadAhead: true }
      await this.#checkpointLoaded(slot)
    }
  }

  /** A state from the disk comes without checkpoints, and a next turn goes on from where it ends. */
  async #checkpointLoaded(slot: number): Promise<void> {
    if (!this.#memory.isWhole) this.#slots[slot]?.checkpoints.push(await this.#memory.checkpoint(slot))
  }

  #holdsAll({ namespace, tokens }: HeldPrefix): boolean {
    const isHeld = (others: Uint32Array) => commonPrefix(others, tokens) === tokens.length
    const isInSlot = this.#slots.some((held) => held?.namespace === namespace && isHeld(held.tokens.view()))
    return isInSlot || this.#store.of(namespace).some((snapshot) => isHeld(snapshot.tokens))
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

  /** Where the model cannot be cut back, a prompt that waits needs a checkpoint to go on from. */
  #makeDue({ holding, length }: Coming): void {
    const stops = [...holding.due, ...holding.checkpoints.map((checkpoint) => checkpoint.length)]
    const isNear = stops.some((stop) => stop <= length && length - stop < worthKeepingTokens)
    if (!this.#memory.isWhole && !isNear) holding.due = [...holding.due, length].toSorted((a, b) => a - b)
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
    if (isBrought && best.from.kind === 'disk') await this.#checkpointLoaded(slot)
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
    if (from.kind === 'disk') await this.#disk?.markUsed(from.entry)
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
    const holding = createHolding('', tokens)
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

  #hold(slot: number, prompt: PromptToPlace, reused: number): void {
    const { namespace, breakpoints, conversationLength } = prompt
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
      isReadAhead: false,
      prompt: { tokens: prompt.tokens, conversationLength },
    }
  }

  /** What a slot holds, as a snapshot, together with its checkpoints; null where it is not worth one. */
  async #takeAside(slot: number): Promise<Snapshot | null> {
    const holding = this.#slots[slot]
    if (!this.#store.isOn || holding === null || holding === undefined) return null
    // What was read ahead still lies on the disk.
    if (holding.tokens.length < worthKeepingTokens || holding.isReadAhead) return null
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

function createHolding(namespace: string, tokens: TokenList): Holding {
  return {
    namespace,
    tokens,
    checkpoints: [],
    pins: [],
    due: [],
    lastUsedMs: 0,
    isUnsaved: false,
    isReadAhead: false,
    prompt: { tokens: new Uint32Array(), conversationLength: tokens.length },
  }
}
