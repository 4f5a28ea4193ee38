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

/** Waits for work no longer than this. The work itself goes on, and what becomes of it then is nobody's business. */
export function inTime<Result>(clock: Clock, waitMs: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(Math.max(0, waitMs), () => reject(new Error(`No answer within ${waitMs} ms.`)))
    work.then(resolve, reject).finally(cancel)
  })
}
