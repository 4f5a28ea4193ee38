/** By then another gateway has given back the place of a request that has ended, unless the database is slow. */
const leastMs = 1_000
/** What comes back waits for the exchange under way at the other gateway, and for its own; then it is asked for here, likewise. */
const exchangesUntilBack = 4
/** How long it is remembered that the database was slow. */
const slowForMs = 10_000

/** How long a place that is free at one gateway takes until another one can have it, by the slowest exchange of late. */
export class PlaceLag {
  #slowest = { tookMs: 0, atMs: -Infinity }

  get ms(): number {
    return Math.max(leastMs, exchangesUntilBack * this.#slowest.tookMs)
  }

  /** An exchange with the database took so long. */
  note(tookMs: number, atMs: number): void {
    if (tookMs >= this.#slowest.tookMs || atMs > this.#slowest.atMs + slowForMs) this.#slowest = { tookMs, atMs }
  }
}
