/** The last dozen or so values decide. */
const weight = 1 / 8

/** The mean of the latest values, each older one counting for less. */
export class MovingMean {
  #value: number | null = null

  /** Null before there is anything to tell of. */
  get value(): number | null {
    return this.#value
  }

  add(value: number): void {
    this.#value = this.#value === null ? value : this.#value + (value - this.#value) * weight
  }
}
