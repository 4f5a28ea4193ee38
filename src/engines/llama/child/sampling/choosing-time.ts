/**
 * Tells apart what each answer takes of the time in which the tokens of several are chosen: the pool's thread works for one
 * after the other, and so does the thread that asks it.
 */
export class ChoosingTime {
  #endedMs = 0

  /** The milliseconds since `fromMs`, less those that were counted already, for this answer or another. */
  since(fromMs: number): number {
    const nowMs = performance.now()
    const ms = nowMs - Math.max(fromMs, this.#endedMs)
    this.#endedMs = nowMs
    return ms
  }
}
