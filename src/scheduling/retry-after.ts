/** How an engine's slots and queue are doing. */
export type Pace = {
  readonly waiting: number
  readonly slots: number
  /** How long a request holds its slot of late; null before any did. */
  readonly runMs: number | null
}

/** Until there is something to go by. */
const freeSlotMsDefault = 2_000
const leastMs = 1_000
/** With the spread on top it stays below the minute that official clients obey. */
const mostMs = 35_000

/**
 * When to come back: when half of those who wait now will have had their turn.
 *
 * Spread by half to either side: those who were refused together must not come
 * back together. `random` is from 0 up to 1.
 */
export function retryAfterMs({ waiting, slots, runMs }: Pace, random: number): number {
  const freeSlotMs = runMs === null ? freeSlotMsDefault : runMs / Math.max(1, slots)
  const meanMs = Math.min(mostMs, Math.max(leastMs, freeSlotMs * Math.max(1, waiting / 2)))
  return Math.round(meanMs * (0.5 + random))
}
