import { every, type Clock } from '../lib/clock.ts'
import { randomId } from '../lib/random-id.ts'
import type { Log } from '../telemetry/log.ts'
import { notingFaults } from '../telemetry/note-faults.ts'

/** One process at work on what has a lease: its id, under which name the lease is held, and when the service stops. */
export type Turn = { readonly id: string; readonly holder: string; readonly signal: AbortSignal }

export type RoundsOptions = {
  readonly clock: Clock
  readonly log: Log
  readonly lookEveryMs?: number
  /** What the log says where nobody can tell what is due, and where one could not be worked on. */
  readonly words: { readonly look: string; readonly work: string }
  /** What is logged with an error, by the id of what was worked on. */
  describe(id: string): Readonly<Record<string, string>>
  findDue(): Promise<readonly string[]>
  work(turn: Turn): Promise<void>
}

export type Rounds = {
  /** Looks for what is due by now, and waits until that was tried. */
  look(): Promise<void>
  /** Ends what is under way. */
  close(): Promise<void>
}

/** Looks again and again for what is due, and works on each of that by itself; on none twice at a time. */
export function startRounds(options: RoundsOptions): Rounds {
  const { clock, log, words } = options
  const holder = randomId()
  const stopped = new AbortController()
  const running = new Map<string, Promise<void>>()
  const begin = (id: string) => {
    const work = options
      .work({ id, holder, signal: stopped.signal })
      .catch((error: unknown) => log.error({ error, ...options.describe(id) }, words.work))
      .finally(() => running.delete(id))
    running.set(id, work)
  }
  const look = notingFaults(log, words.look, async () => {
    for (const id of await options.findDue()) if (!running.has(id) && !stopped.signal.aborted) begin(id)
  })
  const stopLooking = every(clock, options.lookEveryMs ?? 1_000, look)
  return {
    async look() {
      // A round under way may have seen that nothing was left before that was there which its caller wants to be tried,
      // and have its lease still.
      await Promise.all(running.values())
      await look()
      await Promise.all(running.values())
    },
    async close() {
      stopped.abort()
      await stopLooking()
      await Promise.all(running.values())
    },
  }
}

/**
 * So often in a row a receiver may fail before what it refuses by itself as too large is given up: some minutes, in which
 * somebody may have set up a proxy wrongly and seen it.
 */
const failuresBeforeGivingUp = 10

/** Whether what a receiver has refused alone, after so many failures in a row, is sent to it no more. */
export function isGivenUp(status: number, failures: number): boolean {
  return status === tooLargeStatus && failures + 1 >= failuresBeforeGivingUp
}

/** Says of what was sent that it will never be taken as it is. */
export const tooLargeStatus = 413

const retryMsMinDefault = 1_000

/**
 * When something that has failed so many times in a row is tried again: after a pause that doubles each time. It is spread, so
 * that a receiver that comes back is not asked by everybody at once.
 */
export function retryAtMs(
  failures: number,
  nowMs: number,
  { minMs = retryMsMinDefault, maxMs }: { readonly minMs: number | undefined; readonly maxMs: number },
): number {
  const pauseMs = Math.min(maxMs, minMs * 2 ** Math.min(failures - 1, 20))
  return nowMs + Math.round(pauseMs * (0.5 + Math.random() / 2))
}
