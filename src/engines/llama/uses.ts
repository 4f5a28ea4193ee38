/** Counts who uses something, so that what another has replaced can end without failing anyone. */
export class Uses {
  #count = 0
  #waiters: (() => void)[] = []

  get count(): number {
    return this.#count
  }

  begin(): void {
    this.#count += 1
  }

  end(): void {
    this.#count -= 1
    if (this.#count > 0) return
    for (const wake of this.#waiters) wake()
    this.#waiters = []
  }

  /** Resolves when nobody uses it. */
  whenUnused(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiters.push(resolve))
  }
}
