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

/**
 * As `clock.after`, for a wait for what another program sends. A program that was held up itself runs its timers before it
 * reads: what had come in time by then is read first, and may call this off.
 */
export function afterReading(clock: Clock, pauseMs: number, work: () => void): () => void {
  let isOff = false
  const cancel = clock.after(pauseMs, () => setImmediate(() => isOff || work()))
  return () => {
    isOff = true
    cancel()
  }
}

/** Resolves after a pause. */
export function pause(clock: Clock, pauseMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(pauseMs, resolve)
  })
}

/**
 * Waits for work no longer than this, and for what had come by then. The work itself goes on, and what becomes of it then is
 * nobody's business.
 */
export function deadline<Result>(clock: Clock, waitMs: number, work: Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error(`No answer within ${waitMs} ms.`))
    const cancel = afterReading(clock, Math.max(0, waitMs), fail)
    work.then(resolve, reject).finally(cancel)
  })
}

/**
 * Runs work again and again, each time a pause after the last run has ended; the first time after a pause, which may be
 * another one.
 *
 * The work handles its own failures. Returns the way to stop, which resolves when a run under way has ended.
 */
export function every(
  clock: Clock,
  pauseMs: number,
  work: () => void | Promise<unknown>,
  firstPauseMs = pauseMs,
): () => Promise<void> {
  return repeat({ clock, pauseMs, work, firstPauseMs })
}

/** As `every`, but the first run begins now. */
export function nowAndEvery(clock: Clock, pauseMs: number, work: () => Promise<unknown>): () => Promise<void> {
  return repeat({ clock, pauseMs, work, firstPauseMs: null })
}

type Repetition = {
  readonly clock: Clock
  readonly pauseMs: number
  /** Null where the first run begins now. */
  readonly firstPauseMs: number | null
  work(): void | Promise<unknown>
}

function repeat({ clock, pauseMs, work, firstPauseMs }: Repetition): () => Promise<void> {
  let isStopped = false
  let running: Promise<unknown> = Promise.resolve()
  let cancel = () => {}
  const schedule = (nextMs = pauseMs) => {
    if (!isStopped) cancel = clock.after(nextMs, run)
  }
  const run = () => {
    const result = work()
    if (result === undefined) schedule()
    else running = result.finally(() => schedule())
  }
  if (firstPauseMs === null) run()
  else schedule(firstPauseMs)
  return async () => {
    isStopped = true
    cancel()
    await running
  }
}
