import type { Clock } from '../../lib/clock.ts'

export type LoadingWatch = {
  /** How far loading has come; only what is more than before counts. */
  advanced(progress: number): void
  stop(): void
}

/** Starting the process and opening its library takes long on a machine where everything starts at once. */
const stallMsAtLeast = 120_000
/** What the slowest disk gives that weights are sensibly read from; a driver may read all of them without a word. */
const bytesPerMsLeast = 50_000

/** How long loading so many bytes may go without a sign of advancing. */
export function stallLimitMs(bytes: number): number {
  return Math.ceil(stallMsAtLeast + bytes / bytesPerMsLeast)
}

/** Calls `onStall` once when loading does not advance for too long. */
export function watchLoading(clock: Clock, limitMs: number, onStall: () => void): LoadingWatch {
  let farthest = -1
  let cancel = clock.after(limitMs, onStall)
  return {
    advanced(progress) {
      if (!(progress > farthest)) return
      farthest = progress
      cancel()
      cancel = clock.after(limitMs, onStall)
    },
    stop: () => cancel(),
  }
}
