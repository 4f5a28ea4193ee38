import type { Interval } from './intervals.ts'

const months = /^(20\d\d)-(0[1-9]|1[0-2])$/

/** Whether it is a month as `2026-11`. */
export function isMonth(text: string): boolean {
  return months.test(text)
}

/** A calendar month in UTC, whatever clocks are set to elsewhere. */
export function periodOf(month: string): Interval {
  const [, year, number] = months.exec(month) ?? []
  if (year === undefined) throw new RangeError(`${month} is no month.`)
  return {
    fromMs: Date.UTC(Number(year), Number(number) - 1, 1),
    untilMs: Date.UTC(Number(year), Number(number), 1),
  }
}

export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7)
}
