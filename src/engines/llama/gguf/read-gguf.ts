import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { GgufCursor } from './gguf-cursor.ts'
import { GgufError } from './gguf-error.ts'
import { measureTensors } from './measure-tensors.ts'
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
