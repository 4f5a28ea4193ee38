/** The current time and timers, given as an argument so that tests can own them. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970; it may jump. */
  nowMs(): number
  /** Never goes back; for durations and deadlines. */
  monotonicMs(): number
  /** Runs `work` once after a pause. Returns the way to call it off. */
  after(pauseMs: number, work: () => void): () => void
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(pauseMs, work) {
    const timer = setTimeout(work, pauseMs)
    return () => clearTimeout(timer)
  },
}
