import { writeGguf, type MetadataValue } from '../../../scripts/placeholder/write-gguf.ts'

/** A small file that is a GGUF of a language model by all its header says, and that no engine can run. */
export function madeGguf(entries: Readonly<Record<string, MetadataValue>> = {}, numbers = 1_000): Buffer {
  const standard: Record<string, MetadataValue> = {
    'general.architecture': { type: 'string', value: 'made-up' },
    'tokenizer.ggml.model': { type: 'string', value: 'gpt2' },
    'tokenizer.ggml.tokens': { type: 'string[]', value: ['a', 'b', 'c'] },
  }
  const data = Float32Array.from({ length: numbers }, (_, index) => index)
  const tensors = [{ name: 'a.weight', type: 'f32' as const, shape: [numbers], data }]
  return writeGguf(new Map(Object.entries({ ...standard, ...entries })), tensors)
}

/** One of the parts in which weights may come; only the first says what they are. */
export function madePart(position: number, count: number): Buffer {
  return madeGguf({ 'split.no': { type: 'uint32', value: position }, 'split.count': { type: 'uint32', value: count } })
}
