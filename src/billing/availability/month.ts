import type { Database } from '../../db/database.ts'
import type { Interval } from './intervals.ts'
import { keptMs, readFirstSign } from './life-signs.ts'

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

/** Gateways that were away write their last rows within this time, from the disk where they waited. */
const settlingMs = 6 * 3_600_000

/** The month of which rows may still come. */
export function openMonth(nowMs: number): string {
  return monthOf(nowMs - settlingMs)
}

/** The months that are over of which anything is known, the earliest first. */
export async function listEnded(db: Database, nowMs: number): Promise<readonly string[]> {
  const first = await readFirstSign(db, nowMs)
  const months: string[] = []
  if (first === null) return months
  const endMs = periodOf(openMonth(nowMs)).fromMs
  for (let atMs = Math.max(first, nowMs - keptMs); atMs < endMs; atMs = periodOf(monthOf(atMs)).untilMs)
    months.push(monthOf(atMs))
  return months
}
