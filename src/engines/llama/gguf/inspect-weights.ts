import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { GgufError } from './gguf-error.ts'
import { readGguf, type GgufHeader } from './read-gguf.ts'

/** Weights that an engine can be given. */
export type Weights = {
  /** All files, the one that an engine is told of first. */
  readonly paths: readonly string[]
  readonly bytes: number
  readonly architecture: string
}

/**
 * Makes sure that a path leads to the whole weights of a language model.
 *
 * Large ones come in several files; the path is then that of the first, and all
 * the others are looked at too. Throws a `GgufError` that names the file.
 */
export function inspectWeights(path: string): Weights {
  const first = inspectFile(path)
  const count = Number(first.metadata['split.count'] ?? 1)
  const paths = partPaths(path, count)
  const position = Number(first.metadata['split.no'] ?? 0)
  if (position > 0) throw fault(path, `It is part ${position + 1} of ${count}; name the first: ${paths[0] ?? ''}`)
  const architecture = requireLanguageModel(path, first)
  const rest = paths.slice(1).map(inspectFile)
  return { paths, bytes: rest.reduce((sum, { bytes }) => sum + bytes, first.bytes), architecture }
}

function requireLanguageModel(path: string, { metadata }: GgufHeader): string {
  const { 'general.architecture': architecture, 'general.type': type = 'model' } = metadata
  if (typeof architecture !== 'string') throw fault(path, 'It does not say what kind of model it is.')
  if (type !== 'model' || metadata['tokenizer.ggml.model'] === undefined) {
    throw fault(path, `It holds no language model but something that goes with one (${architecture}, ${type}).`)
  }
  return architecture
}

/** The paths of all parts of weights that come in several files, as `NAME-00001-of-00003.gguf` and so on; else the one path. */
export function partPaths(path: string, count = countByName(path)): string[] {
  if (count === 1) return [path]
  const match = partName.exec(basename(path))
  if (match === null || Number(match[3]) !== count) {
    throw fault(path, `It is one of ${count} parts, and its name must say so: NAME-00001-of-0000${count}.gguf.`)
  }
  const [, name = '', , total = ''] = match
  return Array.from({ length: count }, (_, index) =>
    join(dirname(path), `${name}-${String(index + 1).padStart(5, '0')}-of-${total}.gguf`),
  )
}

const partName = /^(.+)-(\d{5})-of-(\d{5})\.gguf$/

function countByName(path: string): number {
  const count = Number(partName.exec(basename(path))?.[3] ?? 1)
  return count >= 1 && count <= 1_000 ? count : 1
}

/** One file by itself, which may be a part. Throws a `GgufError` that names it. */
export function inspectFile(path: string): GgufHeader {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw fault(path, 'There is no such file.')
  if (!stats.isFile()) throw fault(path, 'It is not a file.')
  try {
    return readGguf(path)
  } catch (error) {
    if (error instanceof GgufError) throw fault(path, error.message)
    throw error
  }
}

function fault(path: string, reason: string): GgufError {
  return new GgufError(`${path} cannot be used. ${reason}`)
}
