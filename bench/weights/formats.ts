// Numbers without a meaning in the formats of llama.cpp. A format writes numbers in blocks of
// a fixed size; what is in a block does not change how long it takes to compute with it.

export type Format = 'f32' | 'f16' | 'q4_0' | 'q6_k'

export type FormatTraits = {
  /** The number that llama.cpp gives the format. */
  readonly code: number
  /** Numbers in a block, and the bytes that these take. */
  readonly blockLength: number
  readonly blockBytes: number
}

export const formatTraits: Readonly<Record<Format, FormatTraits>> = {
  f32: { code: 0, blockLength: 1, blockBytes: 4 },
  f16: { code: 1, blockLength: 1, blockBytes: 2 },
  q4_0: { code: 2, blockLength: 32, blockBytes: 18 },
  q6_k: { code: 14, blockLength: 256, blockBytes: 210 },
}

/** Sums over a row then stay near one for the widths of real models, so nothing grows from layer to layer. */
const weightMax = 0.07

/** Primes, so that no two rows of a matrix are the same although the numbers repeat: a few megabytes each. */
const poolBlocks = { f16: 4_194_301, q4_0: 262_139, q6_k: 32_749 }

/** Evenly spread numbers from -1 to 1, as many blocks as the pool of the format has. The same bytes everywhere. */
export function randomBlocks(format: Exclude<Format, 'f32'>): Buffer {
  const { blockBytes } = formatTraits[format]
  const bytes = Buffer.alloc(poolBlocks[format] * blockBytes)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const next = xorshift()
  for (let at = 0; at < bytes.length; at += blockBytes) writeBlock[format](view, at, next)
  return bytes
}

const writeBlock = {
  f16(view: DataView, at: number, next: () => number) {
    view.setFloat16(at, (next() / 2 ** 31) * weightMax, true)
  },
  /** A scale, then two numbers from -8 to 7 in every byte. */
  q4_0(view: DataView, at: number, next: () => number) {
    view.setFloat16(at, weightMax / 8, true)
    for (let byte = 2; byte < 18; byte += 4) view.setInt32(at + byte, next(), true)
  },
  /** The lower four bits of 256 numbers from -32 to 31, their upper two, a scale for each sixteen, one for all. */
  q6_k(view: DataView, at: number, next: () => number) {
    for (let byte = 0; byte < 192; byte += 4) view.setInt32(at + byte, next(), true)
    for (let byte = 192; byte < 208; byte++) view.setInt8(at + byte, 1)
    view.setFloat16(at + 208, weightMax / 32, true)
  },
}

/** Integer arithmetic alone, so the numbers are the same on every machine: xorshift32 by Marsaglia. */
function xorshift(): () => number {
  let state = 20_250_101
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state
  }
}
