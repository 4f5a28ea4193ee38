/**
 * What each of several claimants has been served, on one scale: whoever has the least is next.
 *
 * These are the virtual token counters of "Fairness in Serving Large Language
 * Models" (Sheng et al., OSDI 2024). One who begins to wait starts at the count
 * at which the last turn was given, so that being idle earns no credit.
 */
export class VirtualCounters {
  readonly #counts: Map<string, number>
  readonly #waiting: Set<string>
  /** The highest count at which anybody's turn has come. */
  #reached: number

  constructor(original: VirtualCounters | null = null) {
    this.#counts = new Map(original === null ? [] : original.#counts)
    this.#waiting = new Set(original === null ? [] : original.#waiting)
    this.#reached = original === null ? 0 : original.#reached
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0
  }

  /** A claimant waits from now on, if it did not already. */
  arrive(id: string): void {
    if (this.#waiting.has(id)) return
    this.#counts.set(id, Math.max(this.#countOf(id), this.#reached))
    this.#waiting.add(id)
  }

  /** A claimant no longer waits. What it was served beyond the others it is not forgiven by that. */
  leave(id: string): void {
    this.#waiting.delete(id)
  }

  /** Whose turn it is of those who may have one; null when there is none. The longer waiting one of two equals comes first. */
  advance(may: (id: string) => boolean = () => true): string | null {
    const least = this.#least(may)
    if (least === null) return null
    this.#reached = Math.max(this.#reached, this.#countOf(least))
    // Those whom all others have passed would start there anyway.
    for (const [id, count] of this.#counts) {
      if (count <= this.#reached && !this.#waiting.has(id)) this.#counts.delete(id)
    }
    return least
  }

  /** Adds to what a claimant was served; a negative cost takes back what was charged too much. */
  charge(id: string, cost: number): void {
    this.#counts.set(id, this.#countOf(id) + cost)
  }

  #countOf(id: string): number {
    return this.#counts.get(id) ?? this.#reached
  }

  #least(may: (id: string) => boolean): string | null {
    let least: string | null = null
    for (const id of this.#waiting)
      if ((least === null || this.#countOf(id) < this.#countOf(least)) && may(id)) least = id
    return least
  }
}
