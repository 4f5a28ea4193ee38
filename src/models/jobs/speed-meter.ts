import type { Clock } from '../../lib/clock.ts'

/** The speed is that of the last few seconds. */
const speedMs = 3_000
/** A shorter time tells nothing. */
const leastMs = 200

type Sample = { readonly ms: number; readonly bytes: number }

/** How far something is that comes byte by byte, and how fast. */
export class SpeedMeter {
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #samples: readonly Sample[] = []
  #bytes = 0
  #totalBytes: number | null = null

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock
  }

  /** Something new begins. */
  begin(): void {
    this.#samples = []
    this.#bytes = 0
    this.#totalBytes = null
  }

  note(bytes: number, totalBytes: number | null): void {
    const now = this.#clock.monotonicMs()
    this.#bytes = bytes
    this.#totalBytes = totalBytes
    const last = this.#samples.at(-1)
    // Progress is told for each piece that comes; a few samples a second are enough.
    if (last !== undefined && now - last.ms < leastMs) return
    this.#samples = [...this.#samples.filter(({ ms }) => now - ms < speedMs), { ms: now, bytes }]
  }

  read(): { readonly bytesDone: number; readonly bytesTotal: number | null; readonly bytesPerSecond: number | null } {
    return { bytesDone: this.#bytes, bytesTotal: this.#totalBytes, bytesPerSecond: this.#speed() }
  }

  #speed(): number | null {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    if (first === undefined || last === undefined || last.ms - first.ms < leastMs || last.bytes < first.bytes) {
      return null
    }
    return Math.round(((last.bytes - first.bytes) / (last.ms - first.ms)) * 1_000)
  }
}
