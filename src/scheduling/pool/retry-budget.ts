/** Of the requests under way so many may be further tries, and these always: all that a small replica runs are tried again when it is lost. */
const share = 0.2
const triesLeast = 16

/**
 * Bounds the further tries of a pool by what it has under way.
 *
 * When every replica fails, each request is tried about once: tries on top would be a load of their own.
 */
export class RetryBudget {
  #underWay = 0
  #retries = 0

  get retries(): number {
    return this.#retries
  }

  begin(): void {
    this.#underWay += 1
  }

  end(): void {
    this.#underWay -= 1
  }

  /** Takes a further try, if there is one. Whoever took it gives it back with `give` when the try is over. */
  take(): boolean {
    if (this.#retries >= Math.max(triesLeast, Math.floor(this.#underWay * share))) return false
    this.#retries += 1
    return true
  }

  give(): void {
    this.#retries -= 1
  }
}
