import type { GgufCursor } from './gguf-cursor.ts'
import { GgufError } from './gguf-error.ts'
import { blockOf } from './tensor-bytes.ts'

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
