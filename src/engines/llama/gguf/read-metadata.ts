import type { GgufCursor } from './gguf-cursor.ts'
import { GgufError } from './gguf-error.ts'
import { numberTypeOf, readNumber } from './read-value.ts'

/** Numbers, short texts and short lists of numbers; null for all that is longer, which nothing here needs. */
export type GgufValue = string | number | readonly number[] | null
export type GgufMetadata = Readonly<Record<string, GgufValue>>

/** The container's own limit for a name; tokens, of which lists are made, are shorter by far. */
const nameBytesMax = 65_535
/** Chat templates are the longest texts there are, and take some 20 KiB. */
const textBytesMax = 4 * 1024 * 1024
const keptTextBytesMax = 1_024
/** Some models name a number for each layer, of which the engine takes 512. */
const keptListMax = 512
/** Vocabularies of a quarter million tokens have three lists of that length, and one of half a million merges. */
const listedValuesMax = 8_000_000

const textType = 8
const listType = 9

export function readMetadata(cursor: GgufCursor, entryCount: number): GgufMetadata {
  const metadata = Object.create(null) as Record<string, GgufValue>
  const lists = { valuesLeft: listedValuesMax }
  for (let entry = 0; entry < entryCount; entry++) {
    const key = cursor.text(nameBytesMax)
    // Of two values one reader takes the first and another the second, so what was checked might not be what is used.
    if (Object.hasOwn(metadata, key)) throw new GgufError('Its header says the same thing twice.')
    metadata[key] = readValue(cursor, lists)
  }
  return metadata
}

function readValue(cursor: GgufCursor, lists: { valuesLeft: number }): GgufValue {
  const type = cursor.u32()
  if (type === listType) return readList(cursor, lists)
  if (type === textType) return cursor.textUpTo(keptTextBytesMax, textBytesMax)
  const numberType = numberTypeOf(type)
  if (numberType === null) throw new GgufError(`Its header holds a value of the unknown type ${type}.`)
  return readNumber(cursor, numberType)
}

function readList(cursor: GgufCursor, lists: { valuesLeft: number }): readonly number[] | null {
  const [type, count] = [cursor.u32(), cursor.u64()]
  if (type === listType) throw new GgufError('Its header holds lists within lists.')
  lists.valuesLeft -= count
  if (lists.valuesLeft < 0) throw new GgufError('Its header holds lists that are too long.')
  const numberType = numberTypeOf(type)
  if (numberType !== null && count <= keptListMax) {
    return Array.from({ length: count }, () => readNumber(cursor, numberType))
  }
  if (numberType !== null) cursor.skip(numberType.bytes * count)
  else if (type !== textType) throw new GgufError(`Its header holds a list of the unknown type ${type}.`)
  else for (let index = 0; index < count; index++) cursor.skipText(nameBytesMax)
  return null
}
