// The beginning of a GGUF file: what it says of itself and where each tensor will stand. The
// tensors are left to the caller, who may write gigabytes of them without holding any.

import { formatTraits } from './formats.ts'
import type { Metadata } from './metadata.ts'
import type { Tensor } from './tensors.ts'

const alignment = 32
const valueType = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 }

/** Ends where the first tensor begins. */
export function encodeHeader(metadata: Metadata, tensors: readonly Tensor[]): Buffer {
  const parts = [Buffer.from('GGUF'), uint32(3), uint64(tensors.length), uint64(metadata.size + 1)]
  parts.push(text('general.alignment'), uint32(valueType.uint32), uint32(alignment))
  for (const [key, value] of metadata) parts.push(text(key), encodeValue(value))
  let offset = 0
  for (const tensor of tensors) {
    parts.push(text(tensor.name), uint32(tensor.shape.length), ...tensor.shape.map(uint64))
    parts.push(uint32(formatTraits[tensor.format].code), uint64(offset))
    offset += alignedLength(tensorBytes(tensor))
  }
  const header = Buffer.concat(parts)
  // Longer than its parts, and so filled up with zeros.
  return Buffer.concat([header], alignedLength(header.length))
}

export function tensorBytes({ name, format, shape }: Tensor): number {
  const { blockLength, blockBytes } = formatTraits[format]
  const [columns = 0, rows = 1] = shape
  if (columns % blockLength !== 0)
    throw new Error(`A row of ${name} has ${columns} numbers, no multiple of ${blockLength}.`)
  return (columns / blockLength) * rows * blockBytes
}

/** Every tensor begins where a reader can map the file straight into memory. */
export function alignedLength(length: number): number {
  return Math.ceil(length / alignment) * alignment
}

type Value = Metadata extends ReadonlyMap<string, infer Item> ? Item : never

function encodeValue(value: Value): Buffer {
  switch (value.type) {
    case 'uint32':
      return Buffer.concat([uint32(valueType.uint32), uint32(value.value)])
    case 'float32':
      return Buffer.concat([uint32(valueType.float32), float32(value.value)])
    case 'bool':
      return Buffer.concat([uint32(valueType.bool), Buffer.of(value.value ? 1 : 0)])
    case 'string':
      return Buffer.concat([uint32(valueType.string), text(value.value)])
    case 'int32[]':
      return array(valueType.int32, value.value.map(uint32))
    case 'string[]':
      return array(valueType.string, value.value.map(text))
  }
}

function array(type: number, items: readonly Buffer[]): Buffer {
  return Buffer.concat([uint32(valueType.array), uint32(type), uint64(items.length), ...items])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([uint64(bytes.length), bytes])
}
