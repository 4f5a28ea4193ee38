import { createHash } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { partPaths } from '../../engines/llama/gguf/inspect-weights.ts'
import { readDigests, writeDigest } from '../weights/weights-digests.ts'

/** Weights in the data folder's folder of weights, which are chosen by id: no path comes from outside. */
export type WeightsFile = {
  readonly id: string
  /** Below the folder, with slashes. */
  readonly name: string
  readonly path: string
  /** The size of all parts together. */
  readonly bytes: number
  readonly changedAtMs: number
  /** Null for a file that was neither fetched nor loaded yet, and for weights in parts. */
  readonly sha256: string | null
  /** Whether all its parts are there. */
  readonly isWhole: boolean
}

/** Owner, repository and a folder or two below it. */
const depthMax = 6

export function weightsFolderOf(home: string): string {
  return join(home, 'weights')
}

/** Lists what lies there by name. Weights in parts are listed once, by their first. */
export function listWeightsFiles(home: string): WeightsFile[] {
  const folder = weightsFolderOf(home)
  const digests = readDigests(home)
  const paths = findFiles(folder, depthMax).filter((path) => isFirstPart(path))
  return paths.map((path) => describe(folder, path, digests[path]?.sha256 ?? null)).toSorted(byName)
}

export function findWeightsFile(home: string, id: string): WeightsFile | null {
  return listWeightsFiles(home).find((file) => file.id === id) ?? null
}

/** Deletes weights with all their parts, and what was known of them. */
export function deleteWeightsFile(home: string, { path }: WeightsFile): void {
  for (const part of partsOf(path)) {
    rmSync(part, { force: true })
    writeDigest(home, part, null)
  }
}

function describe(folder: string, path: string, sha256: string | null): WeightsFile {
  const name = relative(folder, path).split(sep).join('/')
  const parts = partsOf(path)
  const stats = parts.flatMap((part) => statSync(part, { throwIfNoEntry: false }) ?? [])
  return {
    id: `weights_${createHash('sha256').update(name).digest('hex').slice(0, 24)}`,
    name,
    path,
    bytes: stats.reduce((sum, { size }) => sum + size, 0),
    changedAtMs: Math.round(Math.max(0, ...stats.map(({ mtimeMs }) => mtimeMs))),
    sha256: parts.length === 1 ? sha256 : null,
    isWhole: stats.length === parts.length,
  }
}

function findFiles(folder: string, depth: number): string[] {
  const entries = readdirIfThere(folder).filter(({ name }) => !name.startsWith('.'))
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.gguf'))
  const folders = depth === 0 ? [] : entries.filter((entry) => entry.isDirectory())
  return [
    ...files.map(({ name }) => join(folder, name)),
    ...folders.flatMap(({ name }) => findFiles(join(folder, name), depth - 1)),
  ]
}

function readdirIfThere(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** A name may claim parts that make no sense; then it is a file of its own, which loading refuses. */
function partsOf(path: string): readonly string[] {
  try {
    return partPaths(path)
  } catch {
    return [path]
  }
}

function isFirstPart(path: string): boolean {
  return partsOf(path)[0] === path
}

function byName(one: WeightsFile, other: WeightsFile): number {
  return one.name < other.name ? -1 : 1
}
