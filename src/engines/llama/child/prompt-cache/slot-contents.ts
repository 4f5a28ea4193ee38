import { worthKeepingTokens, type Coming, type Holding, type PromptToPlace } from './find-candidates.ts'
import { dropAll, livePins, pinnedLength, selectCheckpoints, usePins, type HeldPrefix } from './held-prefix.ts'
import type { Checkpoint, SequenceMemory } from './sequence-memory.ts'
import { commonPrefix, TokenList } from './token-list.ts'

/** What was brought into a slot, and what came with it. */
export type Brought = Pick<Holding, 'pins' | 'checkpoints'> & { readonly tokens: Uint32Array }

/** Knows what each slot holds, and keeps the model's memory in step with it. */
export class SlotContents {
  readonly #memory: SequenceMemory
  readonly #slots: (Holding | null)[]

  constructor(memory: SequenceMemory, slots: number) {
    this.#memory = memory
    this.#slots = Array.from({ length: slots }, () => null)
  }

  all(): readonly (Holding | null)[] {
    return this.#slots
  }

  of(slot: number): Holding | null {
    return this.#slots[slot] ?? null
  }

  /** The tokens that a slot has computed; valid until it computes more. */
  tokensOf(slot: number): Uint32Array {
    return this.#slots[slot]?.tokens.view() ?? new Uint32Array()
  }

  /** Whether some slot holds at least these tokens for their organization. */
  holdsAll({ namespace, tokens }: HeldPrefix): boolean {
    const isHeld = (others: Uint32Array) => commonPrefix(others, tokens) === tokens.length
    return this.#slots.some((held) => held?.namespace === namespace && isHeld(held.tokens.view()))
  }

  /** Tokens that the slot has now computed. */
  extend(slot: number, tokens: Uint32Array): void {
    const holding = this.of(slot)
    if (holding === null) return
    holding.tokens.push(tokens)
    holding.isUnsaved = true
  }

  /** Notes which prompt is computed into a slot that holds the first tokens of it. */
  begin(slot: number, prompt: PromptToPlace, reused: number, nowMs: number): void {
    const { namespace, breakpoints, conversationLength } = prompt
    const before = this.of(slot)
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

  /** Notes what has been brought into an empty slot. */
  fill(slot: number, { tokens, pins, checkpoints }: Brought): void {
    this.#slots[slot] = { ...createHolding('', tokens), pins, checkpoints: [...checkpoints] }
  }

  /** Notes what has been read from the disk into an empty slot. */
  async fillAhead(slot: number, { namespace, tokens, pins }: HeldPrefix, usedMs: number): Promise<void> {
    this.#slots[slot] = { ...createHolding(namespace, tokens), pins, lastUsedMs: usedMs, isReadAhead: true }
    await this.checkpointLoaded(slot)
  }

  clear(slot: number): void {
    dropAll(this.#memory, this.of(slot)?.checkpoints ?? [])
    this.#memory.clear(slot)
    this.#slots[slot] = null
  }

  /** Notes that a slot holds no more than its first tokens. */
  forgetBehind(slot: number, length: number): void {
    const holding = this.of(slot)
    if (holding === null) return
    holding.tokens.cutBack(length)
    const gone = holding.checkpoints.filter((checkpoint) => checkpoint.length > length)
    holding.checkpoints = holding.checkpoints.filter((checkpoint) => checkpoint.length <= length)
    dropAll(this.#memory, gone)
  }

  /** Cuts the memory of a slot back, or brings it back to one of these checkpoints. */
  async shorten(slot: number, length: number, checkpoints: readonly Checkpoint[]): Promise<boolean> {
    if (this.#memory.canCutBack(slot, length)) return this.#memory.cutBack(slot, length)
    const checkpoint = checkpoints.find((candidate) => candidate.length === length)
    return checkpoint !== undefined && (await this.#memory.restore(slot, checkpoint))
  }

  /** Drops prefixes whose lifetime is over, also where there would be room for them. */
  async expire(slot: number, nowMs: number): Promise<void> {
    const holding = this.of(slot)
    if (holding === null) return
    const pins = livePins(holding.pins, nowMs)
    if (pins === holding.pins) return
    const length = pinnedLength(pins, holding.tokens.length)
    if (length === 0 || !(await this.shorten(slot, length, holding.checkpoints))) return this.clear(slot)
    holding.pins = pins
    // What was cut off is not computed again, so nobody may wait for it.
    const { tokens, conversationLength } = holding.prompt
    holding.prompt = { tokens: tokens.subarray(0, length), conversationLength: Math.min(conversationLength, length) }
    this.forgetBehind(slot, length)
  }

  /** How many tokens the slot may compute before it has to stop for a checkpoint; null where it need not. */
  untilCheckpoint(slot: number): number | null {
    const holding = this.of(slot)
    const next = holding?.due[0]
    if (holding === null || next === undefined) return null
    // Within reach they are all taken at the end: a step for the markup alone that opens an answer takes as long as several tokens.
    const isWithinReach = holding.prompt.tokens.length <= this.#memory.reachTokens
    return isWithinReach ? null : next - holding.tokens.length
  }

  /** Takes the checkpoints that are due at lengths the slot has reached. */
  async takeDueCheckpoints(slot: number): Promise<void> {
    const holding = this.of(slot)
    const due = holding?.due.filter((length) => length <= holding.tokens.length) ?? []
    if (holding === null || due.length === 0) return
    holding.due = holding.due.slice(due.length)
    for (const length of due) holding.checkpoints.push(await this.#memory.checkpoint(slot, length))
    const { kept, dropped } = selectCheckpoints(holding.checkpoints, holding.pins)
    holding.checkpoints = kept
    dropAll(this.#memory, dropped)
  }

  /** A state from the disk comes without checkpoints, and a next turn goes on from where it ends. */
  async checkpointLoaded(slot: number): Promise<void> {
    const holding = this.of(slot)
    if (holding === null || this.#memory.isWhole) return
    holding.checkpoints.push(await this.#memory.checkpoint(slot, holding.tokens.length))
  }

  /** Where the model cannot be cut back, a prompt that waits needs a checkpoint to go on from. */
  makeDue({ holding, length }: Coming): void {
    const stops = [...holding.due, ...holding.checkpoints.map((checkpoint) => checkpoint.length)]
    const isNear = stops.some((stop) => stop <= length && length - stop < worthKeepingTokens)
    if (!this.#memory.isWhole && !isNear) holding.due = [...holding.due, length].toSorted((a, b) => a - b)
  }
}

function createHolding(namespace: string, tokens: Uint32Array): Holding {
  const list = new TokenList()
  list.push(tokens)
  return {
    namespace,
    tokens: list,
    checkpoints: [],
    pins: [],
    due: [],
    lastUsedMs: 0,
    isUnsaved: false,
    isReadAhead: false,
    prompt: { tokens: new Uint32Array(), conversationLength: tokens.length },
  }
}
