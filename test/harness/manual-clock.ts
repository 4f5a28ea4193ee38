import type { Clock } from '../../src/lib/clock.ts'

/** A clock that stands still until it is moved. */
export type ManualClock = Clock & {
  /** Lets time pass: everything that falls due meanwhile runs at its time, what is repeated as often as it is. */
  advance(ms: number): void
  /** Lets time pass as a machine that is suspended does: whatever fell due meanwhile runs once, when it is over. */
  sleep(ms: number): void
}

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
    sleep(ms) {
      elapsedMs += ms
      const due = timers.filter(({ atMs }) => atMs <= elapsedMs)
      for (const next of due.toSorted((a, b) => a.atMs - b.atMs)) {
        // What ran before it may have called it off.
        if (!timers.includes(next)) continue
        timers = timers.filter((other) => other !== next)
        next.work()
      }
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
