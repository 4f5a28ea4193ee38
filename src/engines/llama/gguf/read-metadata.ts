import { type GgufCursor, GgufError } from './gguf-cursor.ts'

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
    // One reader takes the first of two values and another the second, so that an unchecked value might be used.
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

type NumberType = { readonly bytes: number; read(from: Buffer): number }

/** The container's types of numbers, by its own number for each. */
const numberTypes: Readonly<Record<number, NumberType>> = {
  0: { bytes: 1, read: (from) => from.readUInt8() },
  1: { bytes: 1, read: (from) => from.readInt8() },
  2: { bytes: 2, read: (from) => from.readUInt16LE() },
  3: { bytes: 2, read: (from) => from.readInt16LE() },
  4: { bytes: 4, read: (from) => from.readUInt32LE() },
  5: { bytes: 4, read: (from) => from.readInt32LE() },
  6: { bytes: 4, read: (from) => from.readFloatLE() },
  7: { bytes: 1, read: (from) => from.readUInt8() },
  // Beyond 2^53 they lose their last digits, which says no less of how large they are.
  10: { bytes: 8, read: (from) => Number(from.readBigUInt64LE()) },
  11: { bytes: 8, read: (from) => Number(from.readBigInt64LE()) },
  12: { bytes: 8, read: (from) => from.readDoubleLE() },
}

/** Null for a type that is no number. */
export function numberTypeOf(type: number): NumberType | null {
  return numberTypes[type] ?? null
}

export function readNumber(cursor: GgufCursor, { bytes, read }: NumberType): number {
  return read(cursor.bytes(bytes))
}
