import type { GgufCursor } from './gguf-cursor.ts'

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
