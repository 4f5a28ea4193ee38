import type { DiskCache, DiskEntry } from './disk-cache.ts'

export type ReadPrefix = DiskEntry & { readonly usedMs: number; readonly state: Buffer }

/**
 * Reads what lies on the disk one after the other, that first which was used last.
 *
 * It keeps one state at a time, until that is taken.
 */
export class ReadAhead {
  readonly #disk: DiskCache
  readonly #entries: ReturnType<DiskCache['latest']>
  #reading: Promise<void> | null = null
  #read: ReadPrefix | null = null
  #isOver = false

  constructor(disk: DiskCache) {
    this.#disk = disk
    this.#entries = disk.latest()
  }

  /** Resolves when a state is there to be taken, or none is left. Null after that. */
  next(): Promise<void> | null {
    if (this.#isOver) return null
    this.#reading ??= this.#readNext().catch(() => this.end())
    return this.#reading
  }

  take(): ReadPrefix | null {
    const read = this.#read
    this.#read = null
    this.#reading = null
    return read
  }

  /** Nothing more is wanted. */
  end(): void {
    this.#isOver = true
    this.#read = null
  }

  async #readNext(): Promise<void> {
    for (;;) {
      const { value: entry, done } = await this.#entries.next()
      if (done === true) return this.end()
      const state = await this.#disk.read(entry)
      if (state === null) continue
      this.#read = { ...entry, state }
      return
    }
  }
}
