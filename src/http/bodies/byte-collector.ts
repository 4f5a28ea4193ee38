/** Blocks are made larger as a body grows, so that a large one has few and a small one wastes little. */
const blockBytesMin = 16 * 1_024
const blockBytesMax = 1_024 * 1_024

/**
 * Puts together what arrives in pieces of any size.
 *
 * Pieces are copied: one byte that is kept as it came keeps the whole buffer in which it arrived.
 */
export class ByteCollector {
  readonly #blocks: Buffer[] = []
  #block: Buffer
  #used = 0
  #size = 0

  /** `expected` is how many bytes will come, where it is known; then there is one block. */
  constructor(expected: number | null) {
    this.#block = Buffer.allocUnsafeSlow(expected ?? blockBytesMin)
  }

  get size(): number {
    return this.#size
  }

  add(piece: Buffer): void {
    this.#size += piece.length
    for (let from = 0; from < piece.length;) {
      if (this.#used === this.#block.length) this.#startBlock()
      const copied = piece.copy(this.#block, this.#used, from)
      from += copied
      this.#used += copied
    }
  }

  /** Everything, in blocks that are nobody else's. */
  take(): Buffer[] {
    return [...this.#blocks, this.#block.subarray(0, this.#used)]
  }

  #startBlock(): void {
    this.#blocks.push(this.#block)
    const bytes = Math.min(blockBytesMax, Math.max(blockBytesMin, this.#block.length * 2))
    this.#block = Buffer.allocUnsafeSlow(bytes)
    this.#used = 0
  }
}
