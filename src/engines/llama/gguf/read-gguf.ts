import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { GgufCursor } from './gguf-cursor.ts'
import { GgufError } from './gguf-error.ts'
import { tensorBytes } from './tensor-bytes.ts'

/** What a GGUF file says of itself, as far as it matters here. */
export type GgufHeader = {
  readonly bytes: number
  readonly tensorCount: number
  readonly metadata: Readonly<Record<string, string | number>>
}

/** Metadata that is read; all else is passed over, since nothing here needs it. */
const wantedKeys: ReadonlySet<string> = new Set([
  'general.architecture',
  'general.type',
  'general.alignment',
  'tokenizer.ggml.model',
  'split.no',
  'split.count',
])

/** Far beyond any model there is; a header that names more was made to keep a reader busy. */
const entriesMax = 1_000_000

/**
 * Reads the header of a GGUF file and sees to it that all its tensors are there.
 *
 * Weights come from strangers and the engine's own reader believes what it
 * reads, so a file passes here before it is given to one. Throws a `GgufError`.
 */
export function readGguf(path: string): GgufHeader {
  const file = openSync(path, 'r')
  try {
    const bytes = fstatSync(file).size
    requireMagic(file)
    const cursor = new GgufCursor(file, bytes)
    cursor.skip(4)
    const version = cursor.u32()
    if (version !== 2 && version !== 3) throw new GgufError(`It is of GGUF version ${version}; 2 and 3 can be read.`)
    const [tensorCount, entryCount] = [cursor.u64(), cursor.u64()]
    if (Math.max(tensorCount, entryCount) > entriesMax) throw new GgufError('Its header names too many entries.')
    const metadata = readMetadata(cursor, entryCount)
    const neededBytes = measureTensors(cursor, tensorCount, Number(metadata['general.alignment'] ?? 32))
    if (neededBytes > bytes) throw new GgufError(`It is cut off: of at least ${neededBytes} bytes it has ${bytes}.`)
    return { bytes, tensorCount, metadata }
  } finally {
    closeSync(file)
  }
}

function requireMagic(file: number): void {
  const start = Buffer.alloc(64)
  const text = start.toString('latin1', 0, readSync(file, start, 0, start.length, 0))
  if (text.startsWith('GGUF')) return
  if (/^\s*<(!doctype|html|\?xml)/i.test(text)) throw new GgufError('It is a web page and not a GGUF file.')
  if (text.startsWith('version https://git-lfs')) {
    throw new GgufError('It is a pointer that Git LFS left in the place of the file.')
  }
  throw new GgufError('It is not a GGUF file.')
}

function readMetadata(cursor: GgufCursor, entryCount: number): Record<string, string | number> {
  const metadata: Record<string, string | number> = {}
  for (let entry = 0; entry < entryCount; entry++) {
    const key = cursor.text(65_535)
    const type = cursor.u32()
    if (!wantedKeys.has(key)) skipValue(cursor, type, 0)
    else if (type === textType) metadata[key] = cursor.text(65_535)
    else metadata[key] = readNumber(cursor, type)
  }
  return metadata
}

const textType = 8
const arrayType = 9
/** Bytes of a value, by the container's number for its type. */
const valueBytes: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8,
}

/** Of the numbers that matter here none is negative or broken. */
function readNumber(cursor: GgufCursor, type: number): number {
  if (type === 10 || type === 11) return cursor.u64()
  if (type === 4 || type === 5) return cursor.u32()
  if (type === 2 || type === 3) return cursor.u16()
  throw new GgufError('Its header holds a value of an unexpected type.')
}

function skipValue(cursor: GgufCursor, type: number, depth: number): void {
  if (type === textType) return cursor.skipText()
  if (type === arrayType) return skipArray(cursor, depth + 1)
  const bytes = valueBytes[type]
  if (bytes === undefined) throw new GgufError(`Its header holds a value of the unknown type ${type}.`)
  cursor.skip(bytes)
}

function skipArray(cursor: GgufCursor, depth: number): void {
  if (depth > 4) throw new GgufError('Its header holds lists within lists within lists.')
  const [type, count] = [cursor.u32(), cursor.u64()]
  const bytes = valueBytes[type]
  if (bytes !== undefined) return cursor.skip(bytes * count)
  // Each of these takes some bytes of the header, whose end stops a count that is not true.
  for (let index = 0; index < count; index++) skipValue(cursor, type, depth)
}

/** Where the last tensor ends. */
function measureTensors(cursor: GgufCursor, tensorCount: number, alignment: number): number {
  if (!Number.isInteger(alignment) || alignment < 1) throw new GgufError('Its header names an impossible alignment.')
  let dataBytes = 0
  for (let tensor = 0; tensor < tensorCount; tensor++) {
    cursor.skipText()
    const dimensions = cursor.u32()
    if (dimensions > 8) throw new GgufError('Its header holds a tensor of too many dimensions.')
    const shape = Array.from({ length: dimensions }, () => cursor.u64())
    const type = cursor.u32()
    dataBytes = Math.max(dataBytes, cursor.u64() + tensorBytes(type, shape))
  }
  return Math.ceil(cursor.position / alignment) * alignment + dataBytes
}
