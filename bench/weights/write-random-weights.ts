import { closeSync, openSync, writeSync } from 'node:fs'
import { formatTraits, randomBlocks, type Format } from './formats.ts'
import { alignedLength, encodeHeader, tensorBytes } from './gguf-header.ts'
import { describeModel } from './metadata.ts'
import { checkShape, type Shape } from './shapes.ts'
import { listTensors, type Tensor, type WeightType } from './tensors.ts'

/** Writes a file that llama.cpp can run and returns its size. However large it is, some megabytes of memory do. */
export function writeRandomWeights(path: string, shape: Shape, type: WeightType = 'f16'): number {
  checkShape(shape)
  const tensors = listTensors(shape, type)
  const header = encodeHeader(describeModel(shape, type), tensors)
  const pools = new Map<Format, Pool>()
  const file = openSync(path, 'w')
  try {
    let size = writeAll(file, header)
    for (const tensor of tensors) {
      const bytes = tensorBytes(tensor)
      for (const piece of numbersOf(tensor, bytes, pools)) size += writeAll(file, piece)
      size += writeAll(file, Buffer.alloc(alignedLength(bytes) - bytes))
    }
    return size
  } finally {
    closeSync(file)
  }
}

/** All tensors of a format are stretches of the same bytes: that they repeat costs no time and saves memory. */
type Pool = { readonly bytes: Buffer; next: number }

function* numbersOf({ format, shape }: Tensor, length: number, pools: Map<Format, Pool>): Generator<Buffer> {
  if (format === 'f32') return yield ones(shape[0] ?? 0)
  const pool = pools.get(format) ?? { bytes: randomBlocks(format), next: 0 }
  pools.set(format, pool)
  for (let left = length; left > 0;) {
    const piece = pool.bytes.subarray(pool.next, pool.next + left)
    yield piece
    left -= piece.length
    pool.next = (pool.next + piece.length) % pool.bytes.length
  }
}

/** A norm that changes nothing. */
function ones(count: number): Buffer {
  const { blockBytes } = formatTraits.f32
  const bytes = Buffer.alloc(count * blockBytes)
  for (let at = 0; at < bytes.length; at += blockBytes) bytes.writeFloatLE(1, at)
  return bytes
}

function writeAll(file: number, bytes: Buffer): number {
  for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at)
  return bytes.length
}
