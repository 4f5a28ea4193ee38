import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { GgufCursor, GgufError } from './gguf-cursor.ts'
import { readMetadata, type GgufMetadata } from './read-metadata.ts'

/** What a GGUF file says of itself, as far as it matters here. */
export type GgufHeader = {
  readonly bytes: number
  readonly tensorCount: number
  readonly metadata: GgufMetadata
}

/** The largest models known have some 3,000 tensors and 100 other entries. A header that names more was made to keep a reader busy. */
const tensorsMax = 65_536
const entriesMax = 65_536
/** Writers align to 32; memory pages are the largest unit that anything could want. */
const alignmentMax = 65_536

/**
 * Reads the header of a GGUF file and sees to it that all its tensors are there.
 *
 * Weights come from strangers and the engine's own readers believe what they
 * read, so a file passes here before it is given to one. Throws a `GgufError`.
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
    if (tensorCount > tensorsMax || entryCount > entriesMax) throw new GgufError('Its header names too many entries.')
    const metadata = readMetadata(cursor, entryCount)
    const neededBytes = measureTensors(cursor, tensorCount, alignmentOf(metadata))
    if (neededBytes > bytes) throw new GgufError(`It is cut off: of at least ${neededBytes} bytes it has ${bytes}.`)
    // A file that is still being copied holds its place but not yet its content.
    if (fstatSync(file).size !== bytes) throw new GgufError('It is still being written.')
    return { bytes, tensorCount, metadata }
  } finally {
    closeSync(file)
  }
}

function alignmentOf(metadata: GgufMetadata): number {
  const alignment = metadata['general.alignment'] ?? 32
  const isPowerOfTwo = typeof alignment === 'number' && alignment > 0 && Number.isInteger(Math.log2(alignment))
  if (!isPowerOfTwo || alignment > alignmentMax) throw new GgufError('Its header names an impossible alignment.')
  return alignment
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

/** What the engine's own reader has room for, the end mark included. */
const nameBytesMax = 63
const dimensionsMax = 4

/**
 * Reads the list of tensors; returns how long the file must be to hold them all.
 *
 * They have to lie one behind the other without gaps, as every writer puts
 * them: no two can share bytes then, and none can lie outside the file.
 */
export function measureTensors(cursor: GgufCursor, tensorCount: number, alignment: number): number {
  const names = new Set<string>()
  let dataBytes = 0
  for (let tensor = 0; tensor < tensorCount; tensor++) {
    const name = cursor.text(nameBytesMax)
    if (names.has(name)) throw new GgufError('Its header names the same tensor twice.')
    names.add(name)
    const bytes = readBytes(cursor)
    if (cursor.u64() !== dataBytes) throw new GgufError('Its header holds a tensor that is out of its place.')
    dataBytes += align(bytes, alignment)
    // Beyond this the sums would no longer be exact, and no disk is that large.
    if (!Number.isSafeInteger(dataBytes)) throw tooLarge()
  }
  return align(cursor.position, alignment) + dataBytes
}

/** Bytes of the tensor whose shape and type come next. */
function readBytes(cursor: GgufCursor): number {
  const dimensions = cursor.u32()
  if (dimensions < 1 || dimensions > dimensionsMax) {
    throw new GgufError('Its header holds a tensor of an impossible number of dimensions.')
  }
  const shape = Array.from({ length: dimensions }, () => cursor.u64())
  if (shape.includes(0)) throw new GgufError('Its header holds a tensor without content.')
  const type = cursor.u32()
  const block = blockOf(type)
  if (block === null)
    throw new GgufError(`Its header holds a tensor of the type ${type}, which the engine does not know.`)
  if ((shape[0] ?? 0) % block.numbers !== 0) throw new GgufError('Its header holds a tensor of broken rows.')
  let numbers = 1
  for (const length of shape) {
    numbers *= length
    if (!Number.isSafeInteger(numbers)) throw tooLarge()
  }
  return (numbers / block.numbers) * block.bytes
}

function align(bytes: number, alignment: number): number {
  return Math.ceil(bytes / alignment) * alignment
}

function tooLarge(): GgufError {
  return new GgufError('Its header holds a tensor that is larger than any disk.')
}

/**
 * Numbers in a block and bytes of a block, by the container's number for the type.
 *
 * These are all types that the pinned engine knows; a test compares them with what its library says.
 */
const blocks: Readonly<Record<number, readonly [numbers: number, bytes: number]>> = {
  0: [1, 4],
  1: [1, 2],
  2: [32, 18],
  3: [32, 20],
  6: [32, 22],
  7: [32, 24],
  8: [32, 34],
  9: [32, 36],
  10: [256, 84],
  11: [256, 110],
  12: [256, 144],
  13: [256, 176],
  14: [256, 210],
  15: [256, 292],
  16: [256, 66],
  17: [256, 74],
  18: [256, 98],
  19: [256, 50],
  20: [32, 18],
  21: [256, 110],
  22: [256, 82],
  23: [256, 136],
  24: [1, 1],
  25: [1, 2],
  26: [1, 4],
  27: [1, 8],
  28: [1, 8],
  29: [256, 56],
  30: [1, 2],
  34: [256, 54],
  35: [256, 66],
  39: [32, 17],
  40: [64, 36],
  41: [128, 18],
  42: [64, 18],
}

/** How a type lays its numbers out in blocks; null for one that the engine does not know. */
export function blockOf(type: number): { readonly numbers: number; readonly bytes: number } | null {
  const block = blocks[type]
  return block === undefined ? null : { numbers: block[0], bytes: block[1] }
}
