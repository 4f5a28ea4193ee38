/** What was served counts half after so long: a burst is forgiven within half a minute, and a flood is not. */
const halfLifeMs = 3_000
/** Who was served this much comes again within half a minute or so, if at all. */
const recentMsMin = 1
/** Keys beyond this many are forgotten if they were served next to nothing. */
const keysMax = 1_000

/** How much of the engine's time each key was served of late. */
export class ServedKeys {
  readonly #served = new Map<string, { ms: number; atMs: number }>()

  get size(): number {
    return this.#served.size
  }

  add(key: string, ms: number, nowMs: number): void {
    this.#served.set(key, { ms: this.of(key, nowMs) + ms, atMs: nowMs })
    if (this.#served.size > keysMax) this.#forget(nowMs)
  }

  /** In milliseconds, those of long ago counted less. */
  of(key: string, nowMs: number): number {
    const served = this.#served.get(key)
    return served === undefined ? 0 : served.ms * 0.5 ** ((nowMs - served.atMs) / halfLifeMs)
  }

  /** Whether a key that is none of these was served of late, and may come again at any moment. */
  expectsOthers(keys: ReadonlySet<string>, nowMs: number): boolean {
    for (const key of this.#served.keys()) if (!keys.has(key) && this.of(key, nowMs) >= recentMsMin) return true
    return false
  }

  #forget(nowMs: number): void {
    for (const key of this.#served.keys()) if (this.of(key, nowMs) < 1) this.#served.delete(key)
  }
}
