/** Something that was taken of a limit at an unknown moment within a span. */
export type Take = { readonly fromMs: number; readonly toMs: number; readonly amount: number }

/**
 * How much shorter than in truth a window may look: the ledger's times at its end are cut and rounded to whole
 * milliseconds, and so is the database's, by which the bucket refills.
 */
const roundingMs = 3

/**
 * By how much more was taken in any window of time than a bucket could give that holds one minute's
 * allowance and refills all the time; below zero where it never was.
 *
 * Every window is looked at that begins and ends with a take. One counts where it cannot have been
 * outside.
 */
export function mostOverBucket(takes: readonly Take[], perMinute: number): number {
  const byEnd = takes.filter(({ amount }) => amount > 0).toSorted((left, right) => left.toMs - right.toMs)
  let most = -Infinity
  for (const beginMs of new Set(byEnd.map(({ fromMs }) => fromMs))) {
    let sum = 0
    for (const { fromMs, toMs, amount } of byEnd) {
      if (fromMs < beginMs) continue
      sum += amount
      most = Math.max(most, sum - bucketGives(perMinute, toMs - beginMs + roundingMs))
    }
  }
  return most
}

export function bucketGives(perMinute: number, ms: number): number {
  return perMinute + (ms * perMinute) / 60_000
}

/** The most that were held at one time, each from its begin until just before its end. */
export function mostAtOnce(takes: readonly Take[]): number {
  const changes = takes.flatMap(({ fromMs, toMs, amount }) => [
    { atMs: fromMs, change: amount },
    { atMs: toMs, change: -amount },
  ])
  let [held, most] = [0, 0]
  // Within one millisecond the ends come first: in which order they happened is not known.
  for (const { change } of changes.toSorted((left, right) => left.atMs - right.atMs || left.change - right.change)) {
    held += change
    most = Math.max(most, held)
  }
  return most
}
