import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { checkModelNumbers } from './check-model-numbers.ts'
import { GgufError } from './gguf-error.ts'
import { readGguf, type GgufHeader } from './read-gguf.ts'
import type { GgufMetadata } from './read-metadata.ts'

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
