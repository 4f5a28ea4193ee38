import type { Clock } from '../../src/lib/clock.ts'

/** A clock that stands still until it is moved. */
export type ManualClock = Clock & { advance(ms: number): void }

export function createManualClock(startMs = 1_800_000_000_000): ManualClock {
  let elapsedMs = 0
  let timers: { atMs: number; work: () => void }[] = []
  return {
    nowMs: () => startMs + elapsedMs,
    monotonicMs: () => elapsedMs,
    after(pauseMs, work) {
      const timer = { atMs: elapsedMs + pauseMs, work }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    advance(ms) {
      const untilMs = elapsedMs + ms
      for (;;) {
        const next = timers.toSorted((a, b) => a.atMs - b.atMs)[0]
        if (next === undefined || next.atMs > untilMs) break
        timers = timers.filter((other) => other !== next)
        elapsedMs = next.atMs
        next.work()
      }
      elapsedMs = untilMs
    },
  }
}

/** Moves the clock along with real time, until the returned function is called. */
export function letRun(clock: ManualClock): () => void {
  let movedMs = performance.now()
  const beat = setInterval(() => {
    const nowMs = performance.now()
    clock.advance(nowMs - movedMs)
    movedMs = nowMs
  }, 50)
  return () => clearInterval(beat)
}
