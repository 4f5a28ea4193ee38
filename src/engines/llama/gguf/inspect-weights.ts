import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { GgufError } from './gguf-cursor.ts'
import { readGguf, type GgufHeader } from './read-gguf.ts'
import type { GgufMetadata, GgufValue } from './read-metadata.ts'

/** Weights that an engine can be given. */
export type Weights = {
  /** All files, the one that an engine is told of first. */
  readonly paths: readonly string[]
  readonly bytes: number
  readonly architecture: string
  readonly metadata: GgufMetadata
}

/**
 * Makes sure that a path leads to the whole weights of a language model.
 *
 * Large ones come in several files; the path is then that of the first, and all
 * the others are looked at too. Throws a `GgufError` that names the file.
 */
export function inspectWeights(path: string): Weights {
  const first = inspectFile(path)
  const { metadata } = first
  const count = splitNumber(path, first, 'split.count') ?? 1
  const paths = partPaths(path, count)
  const position = splitNumber(path, first, 'split.no') ?? 0
  if (position > 0) throw fault(path, `It is part ${position + 1} of ${count}; name the first: ${paths[0] ?? ''}`)
  const architecture = requireLanguageModel(path, first)
  const rest = paths.slice(1).map((part, index) => inspectPart(part, index + 1, count))
  requireTensorCount(path, [first, ...rest])
  return { paths, bytes: rest.reduce((sum, { bytes }) => sum + bytes, first.bytes), architecture, metadata }
}

function requireLanguageModel(path: string, { metadata }: GgufHeader): string {
  const { 'general.architecture': architecture, 'general.type': type = 'model' } = metadata
  if (typeof architecture !== 'string') throw fault(path, 'It does not say what kind of model it is.')
  if (type !== 'model' || metadata['tokenizer.ggml.model'] === undefined) {
    throw fault(path, `It holds no language model but something that goes with one (${architecture}, ${String(type)}).`)
  }
  return inFile(path, () => {
    checkModelNumbers(metadata, architecture)
    return architecture
  })
}

/** Parts of two models would be read as one that nobody has made. */
function inspectPart(path: string, position: number, count: number): GgufHeader {
  const part = inspectFile(path)
  const [says, of] = [splitNumber(path, part, 'split.no'), splitNumber(path, part, 'split.count')]
  if (says === position && of === count) return part
  throw fault(path, `It should be part ${position + 1} of ${count}, and says of itself that it is something else.`)
}

function requireTensorCount(path: string, parts: readonly GgufHeader[]): void {
  const [first] = parts
  const named = first === undefined ? null : splitNumber(path, first, 'split.tensors.count')
  const counted = parts.reduce((sum, { tensorCount }) => sum + tensorCount, 0)
  if (parts.length > 1 && named !== null && named !== counted) {
    throw fault(path, `Its parts hold ${counted} tensors together, and not the ${named} that it names.`)
  }
}

function splitNumber(path: string, { metadata }: GgufHeader, key: string): number | null {
  const value = metadata[key]
  if (value === undefined) return null
  if (Number.isInteger(value) && Number(value) >= 0) return Number(value)
  throw fault(path, 'What its header says of parts makes no sense.')
}

/** The paths of all parts of weights that come in several files, as `NAME-00001-of-00003.gguf` and so on; else the one path. */
export function partPaths(path: string, count = countByName(path)): string[] {
  // A file may say that it is in no parts at all.
  if (count <= 1) return [path]
  const match = partName.exec(basename(path))
  if (match === null || Number(match[3]) !== count || count > partsMax) {
    throw fault(path, `It is one of ${count} parts, and its name must say so: NAME-00001-of-0000${count}.gguf.`)
  }
  const [, name = '', , total = ''] = match
  return Array.from({ length: count }, (_, index) =>
    join(dirname(path), `${name}-${String(index + 1).padStart(5, '0')}-of-${total}.gguf`),
  )
}

const partName = /^(.+)-(\d{5})-of-(\d{5})\.gguf$/

/** The largest weights known come in some 100 parts. */
const partsMax = 1_000

function countByName(path: string): number {
  const count = Number(partName.exec(basename(path))?.[3] ?? 1)
  return count >= 1 && count <= partsMax ? count : 1
}

/** One file by itself, which may be a part. Throws a `GgufError` that names it. */
export function inspectFile(path: string): GgufHeader {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw fault(path, 'There is no such file.')
  if (!stats.isFile()) throw fault(path, 'It is not a file.')
  return inFile(path, () => readGguf(path))
}

function inFile<Result>(path: string, read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (error instanceof GgufError) throw fault(path, error.message)
    throw error
  }
}

function fault(path: string, reason: string): GgufError {
  return new GgufError(`${path} cannot be used. ${reason}`)
}

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
