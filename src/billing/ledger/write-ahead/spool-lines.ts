import { crc32 } from 'node:zlib'
import type { NewRow } from './row-writer.ts'

/** Eight hexadecimal digits of a checksum, a space, and the row as JSON. */
export function toLine(row: NewRow): string {
  const json = JSON.stringify(row)
  return `${checksum(json)} ${json}\n`
}

/** A last line without its end was being written when the process ended; it was never acknowledged. */
export function readLines(text: string): { rows: NewRow[]; damagedCount: number } {
  const rows: NewRow[] = []
  let damagedCount = 0
  for (const line of text.split('\n').slice(0, -1)) {
    const json = line.slice(9)
    if (line.slice(0, 9) === `${checksum(json)} `) rows.push(JSON.parse(json) as NewRow)
    else damagedCount += 1
  }
  return { rows, damagedCount }
}

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(8, '0')
}
