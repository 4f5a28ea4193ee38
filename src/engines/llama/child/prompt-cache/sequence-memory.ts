import type { SavedState, StateRoom } from './state-room.ts'

/** The part of a sequence's state that a model with a limited reach forgets, and the length to which it brings the sequence back. */
export type Checkpoint = {
  readonly length: number
  readonly bytes: number
  readonly native: NativeCheckpoint
}

/** What a model has computed for the tokens of its slots: held, cut back, copied, put aside and taken up again. */
export interface SequenceMemory {
  /**
   * Whether a sequence can be cut back to any length it once had.
   *
   * A model that looks back through a window, or carries a running state, cannot:
   * it needs a checkpoint that was taken at that length.
   */
  readonly isWhole: boolean
  /**
   * A checkpoint at a length up to this many tokens holds all that any shorter one would; of a longer sequence it holds what
   * the window reaches from its end, and no more. Zero where the state is of one length alone.
   */
  readonly reachTokens: number
  clear(slot: number): void
  /** Forgets what stands behind `length` tokens. Where that cannot be done nothing is left, and it returns false. */
  cutBack(slot: number, length: number): boolean
  canCutBack(slot: number, length: number): boolean
  /** Fills a slot with what another holds; false, and an empty slot, where there is no room for that. */
  copy(target: number, source: number): Promise<boolean>
  /** Takes what brings a sequence back to `length`, which is its own or, within `reachTokens`, a shorter one. */
  checkpoint(slot: number, length: number): Promise<Checkpoint>
  /** Brings a slot back to a checkpoint's length. */
  restore(slot: number, checkpoint: Checkpoint): Promise<boolean>
  drop(checkpoint: Checkpoint): void
  /** The whole state of a slot. */
  save(slot: number, tokens: Uint32Array): Promise<SavedState>
  /** Fills a slot from a state; false, and an empty slot, where the model does not take it. */
  load(slot: number, state: SavedState): Promise<boolean>
}

export interface NativeCheckpoint {
  init(context: NativeSequences, sequenceId: number): Promise<void>
  dispose(): void
  readonly size: number
  readonly maxPos: number
}

/** The members of the library's context that this file uses. */
export interface NativeSequences {
  disposeSequence(sequenceId: number): void
  removeTokenCellsFromSequence(sequenceId: number, start: number, end: number): boolean
  getSequenceKvCacheMinPosition(sequenceId: number): number
  getSequenceKvCacheMaxPosition(sequenceId: number): number
  restoreCheckpoint(checkpoint: NativeCheckpoint, maxPosition: number, sequenceId: number): Promise<boolean>
  copySequenceStateFromOtherSequence(target: number, source: number): Promise<number>
  initBatch(size: number): void
  addToBatch(sequenceId: number, position: number, tokens: Uint32Array, logitAt: Uint32Array): ArrayLike<unknown>
  decodeBatch(): Promise<void>
  saveSequenceStateToFile(path: string, sequenceId: number, tokens: Uint32Array): Promise<number>
  loadSequenceStateFromFile(path: string, sequenceId: number, maxTokens: number): Promise<Uint32Array>
}

export type SequenceMemoryOptions = {
  readonly native: NativeSequences
  readonly createCheckpoint: () => NativeCheckpoint
  /** How far back a layer looks that does not look at everything; null where all do. */
  readonly windowedTokens: number | null
  /** The model carries a running state, which cannot be cut back at all. */
  readonly isRecurrent: boolean
  /** A graphics card has the memory, and copies it faster than it could leave the card. */
  readonly isOnCard: boolean
  readonly slotTokensMax: number
  readonly states: StateRoom
}

export function createSequenceMemory(options: SequenceMemoryOptions): SequenceMemory {
  const { native, windowedTokens, isRecurrent, slotTokensMax, states } = options

  function canCutBack(slot: number, length: number): boolean {
    if (native.getSequenceKvCacheMaxPosition(slot) + 1 === length) return true
    if (isRecurrent) return false
    // All that the window reaches from the next token must still be there.
    const reach = windowedTokens === null ? 0 : Math.max(0, length - windowedTokens + 1)
    return windowedTokens === null || native.getSequenceKvCacheMinPosition(slot) <= reach
  }

  return {
    isWhole: windowedTokens === null && !isRecurrent,
    reachTokens: isRecurrent ? 0 : (windowedTokens ?? Infinity),
    canCutBack,
    clear: (slot) => native.disposeSequence(slot),
    cutBack(slot, length) {
      if (length > 0 && canCutBack(slot, length) && native.removeTokenCellsFromSequence(slot, length, -1)) return true
      native.disposeSequence(slot)
      return length === 0
    },
    copy: copier(options),
    async checkpoint(slot, length) {
      const checkpoint = options.createCheckpoint()
      await checkpoint.init(native, slot)
      return { length, bytes: checkpoint.size, native: checkpoint }
    },
    restore: (slot, checkpoint) => native.restoreCheckpoint(checkpoint.native, checkpoint.length - 1, slot),
    drop: (checkpoint) => checkpoint.native.dispose(),
    save: (slot, tokens) => states.take((path) => native.saveSequenceStateToFile(path, slot, tokens)),
    async load(slot, state) {
      try {
        await state.asFile((path) => native.loadSequenceStateFromFile(path, slot, slotTokensMax))
        return true
      } catch {
        native.disposeSequence(slot)
        return false
      }
    },
  }
}

/** A state's file can name its tokens, which is of no use where they are known. */
const noTokens = new Uint32Array()
const anyToken = Uint32Array.of(0)
const nowhere = new Uint32Array()

/**
 * The library only notes a copy: it is made when the next step begins, and of what the source holds by then. Whoever is given
 * the source before that, or has the target put aside or brought back to a checkpoint, would get what is another's. So either
 * a state is written and taken up, or a token is computed behind the copy, and forgotten.
 */
function copier(options: SequenceMemoryOptions): SequenceMemory['copy'] {
  const { native, windowedTokens, isRecurrent, isOnCard, slotTokensMax, states } = options

  async function copyState(target: number, source: number): Promise<boolean> {
    try {
      await states.pass(
        (path) => native.saveSequenceStateToFile(path, source, noTokens),
        (path) => native.loadSequenceStateFromFile(path, target, slotTokensMax),
      )
      return true
    } catch {
      native.disposeSequence(target)
      return false
    }
  }

  /** Rejects where the token cannot be computed: the copy is noted still, and whatever is in the target then would be lost. */
  async function copyAndCompute(target: number, source: number, length: number): Promise<boolean> {
    await native.copySequenceStateFromOtherSequence(target, source)
    native.initBatch(1)
    native.addToBatch(target, length, anyToken, nowhere)
    await native.decodeBatch()
    if (native.removeTokenCellsFromSequence(target, length, -1)) return true
    native.disposeSequence(target)
    return false
  }

  return (target, source) => {
    const length = native.getSequenceKvCacheMaxPosition(source) + 1
    // A state holds of a window what it reaches from its end, and so could not be cut back.
    const isBetterInside = isOnCard || windowedTokens !== null
    const isPossibleInside = !isRecurrent && length < slotTokensMax
    return isBetterInside && isPossibleInside ? copyAndCompute(target, source, length) : copyState(target, source)
  }
}
