/** The least that anything is taken to cost, so that nothing is divided by zero. */
const slopeMin = 1e-4

/**
 * Fits a line to pairs of a size and a time, of which the newest count most.
 *
 * The times are those of work that takes a while whatever its size, and longer the larger it is.
 * As long as all sizes were about the same, time is taken to be in proportion to size; when they are so
 * again, what was found before still holds.
 */
export class FittedLine {
  readonly #newest: number
  #count = 0
  #size = 0
  #time = 0
  #sizeSquared = 0
  #product = 0
  #fitted: number | null = null

  constructor(newest: number) {
    this.#newest = newest
  }

  add(size: number, time: number): void {
    this.#count += 1
    const weight = Math.max(this.#newest, 1 / this.#count)
    this.#size += (size - this.#size) * weight
    this.#time += (time - this.#time) * weight
    this.#sizeSquared += (size * size - this.#sizeSquared) * weight
    this.#product += (size * time - this.#product) * weight
    const variance = this.#sizeSquared - this.#size ** 2
    if (this.#count < 4 || variance < (this.#size * 0.05) ** 2) return
    this.#fitted = (this.#product - this.#size * this.#time) / variance
  }

  /** Whether sizes differed enough to tell what each unit adds. */
  get isFitted(): boolean {
    return this.#fitted !== null
  }

  /** Time that each unit of size adds. */
  get slope(): number {
    const proportional = this.#time / Math.max(1, this.#size)
    return Math.max(slopeMin, Math.min(this.#fitted ?? proportional, proportional))
  }

  /** Time that the work takes whatever its size. */
  get base(): number {
    return Math.max(0, this.#time - this.slope * this.#size)
  }
}
