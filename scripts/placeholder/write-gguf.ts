// Writes a model file in the third version of the GGUF container: a header, typed metadata, tensor descriptions, and
// the tensor data, every block of it aligned so that a reader can map the file straight into memory.

export type MetadataValue =
  | { type: 'uint32'; value: number }
  | { type: 'float32'; value: number }
  | { type: 'bool'; value: boolean }
  | { type: 'string'; value: string }
  | { type: 'int32[]'; value: readonly number[] }
  | { type: 'string[]'; value: readonly string[] }

/** `shape` is in the container's order: the length of one row first, then the number of rows. */
export interface Tensor {
  name: string
  type: 'f16' | 'f32'
  shape: readonly number[]
  data: Float32Array
}

const ALIGNMENT = 32
const TYPE = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const
const TENSOR_TYPE = { f32: 0, f16: 1 } as const

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value)
  return bytes
}

const uint64 = (value: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

const float32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}

const string = (value: string): Buffer => {
  const text = Buffer.from(value, 'utf8')
  return Buffer.concat([uint64(text.length), text])
}

const array = <Item>(type: number, items: readonly Item[], encode: (item: Item) => Buffer): Buffer =>
  Buffer.concat([uint32(TYPE.array), uint32(type), uint64(items.length), ...items.map((item) => encode(item))])

const encodeMetadata = (metadata: MetadataValue): Buffer => {
  switch (metadata.type) {
    case 'uint32':
      return Buffer.concat([uint32(TYPE.uint32), uint32(metadata.value)])
    case 'float32':
      return Buffer.concat([uint32(TYPE.float32), float32(metadata.value)])
    case 'bool':
      return Buffer.concat([uint32(TYPE.bool), Buffer.of(metadata.value ? 1 : 0)])
    case 'string':
      return Buffer.concat([uint32(TYPE.string), string(metadata.value)])
    case 'int32[]':
      return array(TYPE.int32, metadata.value, int32)
    case 'string[]':
      return array(TYPE.string, metadata.value, string)
  }
}

// Numbers are written one at a time, so the bytes are the same on a machine of either byte order.
const encodeTensor = ({ name, type, shape, data }: Tensor): Buffer => {
  const expected = shape.reduce((product, length) => product * length, 1)
  if (expected !== data.length) throw new Error(`tensor ${name} holds ${data.length} numbers instead of ${expected}`)
  const width = type === 'f16' ? 2 : 4
  const bytes = Buffer.alloc(data.length * width)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  data.forEach((value, index) => {
    if (type === 'f16') view.setFloat16(index * width, value, true)
    else view.setFloat32(index * width, value, true)
  })
  return bytes
}

const padded = (bytes: Buffer): Buffer => {
  const excess = bytes.length % ALIGNMENT
  return excess === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(ALIGNMENT - excess)])
}

export const writeGguf = (metadata: ReadonlyMap<string, MetadataValue>, tensors: readonly Tensor[]): Buffer => {
  const parts: Buffer[] = [
    Buffer.from('GGUF', 'latin1'),
    uint32(3),
    uint64(tensors.length),
    uint64(metadata.size + 1),
    string('general.alignment'),
    encodeMetadata({ type: 'uint32', value: ALIGNMENT }),
  ]
  for (const [key, value] of metadata) parts.push(string(key), encodeMetadata(value))

  const blocks: Buffer[] = []
  let offset = 0
  for (const tensor of tensors) {
    const block = padded(encodeTensor(tensor))
    parts.push(string(tensor.name), uint32(tensor.shape.length), ...tensor.shape.map((length) => uint64(length)))
    parts.push(uint32(TENSOR_TYPE[tensor.type]), uint64(offset))
    blocks.push(block)
    offset += block.length
  }
  return Buffer.concat([padded(Buffer.concat(parts)), ...blocks])
}
