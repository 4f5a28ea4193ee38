import { GgufError } from './gguf-error.ts'
import type { GgufMetadata, GgufValue } from './read-metadata.ts'

type Range = { readonly least: number; readonly most: number; readonly perLayer?: true }

/**
 * What a model may say of its own shape.
 *
 * The engine's loaders loop over these numbers, divide by them and take memory for them without a second look. Each
 * limit is the engine's own where it has one (512 layers), and else far beyond any model there is.
 */
const ranges: Readonly<Record<string, Range>> = {
  block_count: { least: 1, most: 512 },
  context_length: { least: 1, most: 2 ** 27 },
  embedding_length: { least: 1, most: 2 ** 20 },
  feed_forward_length: { least: 0, most: 2 ** 24, perLayer: true },
  vocab_size: { least: 1, most: 2 ** 24 },
  expert_count: { least: 0, most: 4_096 },
  expert_used_count: { least: 0, most: 4_096 },
  'attention.head_count': { least: 0, most: 2 ** 16, perLayer: true },
  'attention.head_count_kv': { least: 0, most: 2 ** 16, perLayer: true },
  'attention.key_length': { least: 1, most: 2 ** 16 },
  'attention.value_length': { least: 1, most: 2 ** 16 },
  'attention.sliding_window': { least: 0, most: 2 ** 31, perLayer: true },
  'rope.dimension_count': { least: 0, most: 2 ** 16 },
  'ssm.conv_kernel': { least: 0, most: 2 ** 16 },
  'ssm.inner_size': { least: 0, most: 2 ** 24 },
  'ssm.state_size': { least: 0, most: 2 ** 20 },
  'ssm.time_step_rank': { least: 0, most: 2 ** 20 },
  'ssm.group_count': { least: 0, most: 2 ** 20 },
}

/** Throws a `GgufError` for a number that no model can have. Numbers that are missing are for the engine to miss. */
export function checkModelNumbers(metadata: GgufMetadata, architecture: string): void {
  for (const [name, range] of Object.entries(ranges)) {
    const value = metadata[`${architecture}.${name}`]
    if (value === undefined || isWithin(value, range)) continue
    const said = typeof value === 'number' ? `${value}` : 'no single number'
    throw new GgufError(`Its header says that ${name} is ${said}, which no model can have.`)
  }
  const read = (name: string) => numbersOf(metadata[`${architecture}.${name}`] ?? [])
  const [width = Infinity] = read('embedding_length')
  if (read('attention.head_count').some((heads) => heads > width)) {
    throw new GgufError('Its header names more attention heads than numbers for them.')
  }
  const [used = 0] = read('expert_used_count')
  const [experts = 0] = read('expert_count')
  if (used > experts) throw new GgufError('Its header uses more experts than it names.')
}

function isWithin(value: GgufValue, { least, most, perLayer }: Range): boolean {
  const isList = typeof value === 'object'
  const numbers = numbersOf(value)
  if (numbers.length === 0 || (isList && perLayer !== true)) return false
  return numbers.every((number) => Number.isInteger(number) && number >= least && number <= most)
}

function numbersOf(value: GgufValue): readonly number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? value : []
}
