import type { Clock } from '../../lib/clock.ts'

/** A page reads its list again and again, which is one reading of it. */
const readingMs = 3_600_000
/** More people than read within an hour; what is older is forgotten. */
const readersMax = 10_000

/** Who has read what within the hour, as far as this gateway has noted it. */
export class NotedReadings {
  readonly #clock: Clock
  readonly #notedMs = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether a reading is to be noted; if so, it counts as noted from now on. */
  isNew(reading: string): boolean {
    const nowMs = this.#clock.monotonicMs()
    const isNew = nowMs - (this.#notedMs.get(reading) ?? -Infinity) >= readingMs
    if (!isNew) return false
    if (this.#notedMs.size >= readersMax) this.#forget(nowMs)
    this.#notedMs.set(reading, nowMs)
    return true
  }

  #forget(nowMs: number): void {
    for (const [reading, notedMs] of this.#notedMs) if (nowMs - notedMs >= readingMs) this.#notedMs.delete(reading)
  }
}
