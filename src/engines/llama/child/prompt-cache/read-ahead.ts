import type { DiskCache, DiskEntry } from './disk-cache.ts'
import type { HeldPrefix } from './held-prefix.ts'
import type { SavedState } from './state-room.ts'

export type ReadPrefix = DiskEntry & { readonly usedMs: number; readonly state: SavedState }

/**
 * Reads what lies on the disk one after the other, that first which was used last.
 *
 * It keeps one state at a time, until that is taken.
 */
export class ReadAhead {
  readonly #disk: DiskCache
  readonly #entries: ReturnType<DiskCache['latest']>
  #reading: Promise<void> | null = null
  /** The file whose state is being read, or has been. */
  #file: string | null = null
  #read: ReadPrefix | null = null
  #isOver = false

  constructor(disk: DiskCache) {
    this.#disk = disk
    this.#entries = disk.latest()
  }

  /** Resolves when a state is there to be taken, or none is left. Null after that. What is held already is passed over. */
  next(isHeld: (held: HeldPrefix) => boolean = () => false): Promise<void> | null {
    if (this.#isOver) return null
    this.#reading ??= this.#readNext(isHeld).catch(() => this.end())
    return this.#reading
  }

  /** Gives away what has been read, its state with it. */
  take(): ReadPrefix | null {
    const read = this.#read
    this.#read = null
    this.#file = null
    this.#reading = null
    return read
  }

  /** Takes the state of one file where that is being read, or has been; else it is null. Nothing is read twice. */
  async takeStateOf({ file }: DiskEntry): Promise<SavedState | null> {
    if (this.#file !== file) return null
    await this.#reading
    // One that is damaged was passed over for the next.
    return this.#read?.file === file ? (this.take()?.state ?? null) : null
  }

  /** Nothing more is wanted. */
  end(): void {
    this.#isOver = true
    this.#read?.state.drop()
    this.#read = null
  }

  async #readNext(isHeld: (held: HeldPrefix) => boolean): Promise<void> {
    for (;;) {
      const { value: entry, done } = await this.#entries.next()
      if (done === true) return this.end()
      if (isHeld(entry)) continue
      this.#file = entry.file
      const state = await this.#disk.read(entry)
      if (state === null) continue
      if (this.#isOver) return state.drop()
      this.#read = { ...entry, state }
      return
    }
  }
}
