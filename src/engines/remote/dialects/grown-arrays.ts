import { arrayStart, ArrayWalk } from '../../../lib/json/array-walk.ts'
import { parseJson } from '../../../lib/json/parse-json.ts'

/**
 * Reads records that repeat with every token all that came before it.
 *
 * Parsed whole, they cost the square of an answer's length: 48 seconds for one of 32,000 tokens. What the record before had in
 * the arrays that grow is compared with its bytes, and left out before the rest is parsed.
 */
export class GrownArrays {
  readonly #starts: readonly Buffer[]
  /** What each array had in the record before. */
  #known: readonly Buffer[] = []

  /** The arrays in the order in which they stand. What is written before the first of them is left out as well. */
  constructor(names: readonly string[]) {
    this.#starts = names.map(arrayStart)
  }

  /** The record with no more than the new elements of each array; undefined where it is not one that goes on so. */
  read(record: Buffer): unknown {
    const known: Buffer[] = []
    const pieces: Buffer[] = []
    let from = 0
    for (const [index, arrayStarts] of this.#starts.entries()) {
      const found = record.indexOf(arrayStarts, from)
      if (found === -1) break
      const start = found + arrayStarts.length
      const before = this.#known[index] ?? nothing
      const next = start + before.length
      const end = endOfArray(record, next)
      if (end === -1 || !record.subarray(start, next).equals(before) || !isBetweenElements(record, next, before))
        return this.#forget()
      const isAfterComma = before.length > 0 && next < end
      pieces.push(
        index === 0 ? objectStart : record.subarray(from, found),
        arrayStarts,
        record.subarray(isAfterComma ? next + 1 : next, end),
      )
      known.push(record.subarray(start, end))
      from = end
    }
    if (from === 0) return undefined
    this.#known = known
    return parseJson(Buffer.concat([...pieces, record.subarray(from)]).toString()) ?? undefined
  }

  #forget(): undefined {
    this.#known = []
  }
}

const nothing = Buffer.alloc(0)
const objectStart = Buffer.from('{')

/** Whether an element ends there, and not a longer number that begins as the last one known. */
function isBetweenElements(record: Buffer, at: number, before: Buffer): boolean {
  return before.length === 0 || record[at] === 0x2c || record[at] === 0x5d
}

/** Where the array ends that has elements before an index; minus one where it does not. */
function endOfArray(record: Buffer, from: number): number {
  const walk = new ArrayWalk()
  let end = walk.endOfElement(record, from)
  while (record[end] === 0x2c) end = walk.endOfElement(record, end + 1)
  return record[end] === 0x5d ? end : -1
}
