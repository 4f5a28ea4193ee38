import { readSync } from 'node:fs'

/** The largest vocabularies known take some 20 MiB. A header that goes on beyond this was made to keep a reader busy. */
const headerBytesMax = 64 * 1024 * 1024
const bufferBytes = 1024 * 1024

/**
 * Reads a header's fields one after the other.
 *
 * No length in the file is believed: nothing is read or skipped beyond the
 * file's end or the longest header there may be, and nothing is allocated for
 * what has not been read.
 */
export class GgufCursor {
  readonly #file: number
  readonly #end: number
  #position = 0
  #buffer: Buffer = Buffer.alloc(0)
  #bufferStart = 0

  constructor(file: number, fileBytes: number) {
    this.#file = file
    this.#end = Math.min(fileBytes, headerBytesMax)
  }

  get position(): number {
    return this.#position
  }

  u32(): number {
    return this.#take(4).readUInt32LE()
  }

  /** The next bytes, which stay valid until the next call. */
  bytes(count: number): Buffer {
    return this.#take(count)
  }

  /** A count or a size. What does not fit a safe integer is larger than any file. */
  u64(): number {
    const value = this.#take(8).readBigUInt64LE()
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new GgufError('Its header names a number that cannot be true.')
    return Number(value)
  }

  text(bytesMax: number): string {
    const length = this.u64()
    if (length > bytesMax) throw new GgufError('Its header holds a name that is too long.')
    return this.#take(length).toString('utf8')
  }

  /** A text, or null, and passed over, where it is longer than is of use; longer than may be is a fault. */
  textUpTo(keptBytesMax: number, bytesMax: number): string | null {
    const length = this.u64()
    if (length > bytesMax) throw new GgufError('Its header holds a text that is too long.')
    if (length <= keptBytesMax) return this.#take(length).toString('utf8')
    this.skip(length)
    return null
  }

  skipText(bytesMax: number): void {
    const length = this.u64()
    if (length > bytesMax) throw new GgufError('Its header holds a text that is too long.')
    this.skip(length)
  }

  skip(bytes: number): void {
    if (bytes > this.#end - this.#position) throw endsEarly()
    this.#position += bytes
  }

  /** The next bytes, which stay valid until the next call. */
  #take(bytes: number): Buffer {
    if (bytes > this.#end - this.#position) throw endsEarly()
    const offset = this.#position - this.#bufferStart
    if (offset < 0 || offset + bytes > this.#buffer.length) this.#fill(bytes)
    const start = this.#position - this.#bufferStart
    this.#position += bytes
    return this.#buffer.subarray(start, start + bytes)
  }

  #fill(bytes: number): void {
    const buffer = Buffer.alloc(Math.min(Math.max(bytes, bufferBytes), this.#end - this.#position))
    const read = readSync(this.#file, buffer, 0, buffer.length, this.#position)
    if (read < bytes) throw endsEarly()
    this.#buffer = buffer.subarray(0, read)
    this.#bufferStart = this.#position
  }
}

function endsEarly(): GgufError {
  return new GgufError('It ends within its header.')
}

/** A file that is no whole GGUF file of a language model; the message says why. */
export class GgufError extends Error {
  override readonly name = 'GgufError'
}
