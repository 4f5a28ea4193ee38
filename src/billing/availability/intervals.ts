/** From a moment up to another one, which is left out. */
export type Interval = { readonly fromMs: number; readonly untilMs: number }

/** Intervals in order, those that overlap or touch made one. */
export function union(intervals: readonly Interval[]): Interval[] {
  const joined: { fromMs: number; untilMs: number }[] = []
  for (const { fromMs, untilMs } of intervals.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = joined.at(-1)
    if (last === undefined || fromMs > last.untilMs) joined.push({ fromMs, untilMs })
    else last.untilMs = Math.max(last.untilMs, untilMs)
  }
  return joined
}

/** What of a window the intervals leave out. */
export function gapsIn(window: Interval, intervals: readonly Interval[]): Interval[] {
  const gaps: Interval[] = []
  let reachedMs = window.fromMs
  for (const { fromMs, untilMs } of union(intervals)) {
    if (fromMs > reachedMs) gaps.push({ fromMs: reachedMs, untilMs: Math.min(fromMs, window.untilMs) })
    reachedMs = Math.max(reachedMs, untilMs)
    if (reachedMs >= window.untilMs) break
  }
  if (reachedMs < window.untilMs) gaps.push({ fromMs: reachedMs, untilMs: window.untilMs })
  return gaps.filter((gap) => gap.untilMs > gap.fromMs)
}

/** The part of an interval that lies in a window; null where none does. */
export function clip({ fromMs, untilMs }: Interval, window: Interval): Interval | null {
  const clipped = { fromMs: Math.max(fromMs, window.fromMs), untilMs: Math.min(untilMs, window.untilMs) }
  return clipped.untilMs > clipped.fromMs ? clipped : null
}
