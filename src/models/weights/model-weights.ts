import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChatSettings, RopeScaling } from '../../config/models-schema.ts'
import type { Config } from '../../config/schema.ts'
import type { ModelId } from '../../core/model.ts'
import { partPaths } from '../../engines/llama/gguf/inspect-weights.ts'

/** The weights that come with Odyssey. */
export const builtInPath = fileURLToPath(new URL('../../../weights/starter.gguf', import.meta.url))

/** The file that answers for a model under a configuration. */
export function resolveWeights(config: Config, id: ModelId): { path: string; isBuiltIn: boolean } {
  const { weights } = config.models[id]
  if (weights === null) return { path: builtInPath, isBuiltIn: true }
  return { path: resolve(config.configFolder, weights), isBuiltIn: false }
}

/** How the positions of a file of weights are stretched; only for weights that the config file names. */
export function ropeScalingOf({ models, configFolder }: Config, path: string): RopeScaling | null {
  const named = Object.values(models).find(
    ({ weights, ropeScaling }) => ropeScaling !== null && weights !== null && resolve(configFolder, weights) === path,
  )
  return named?.ropeScaling ?? null
}

/** What an operator has overridden of what the chat template shows; only for weights that the config file names. */
export function chatOf({ models, configFolder }: Config, path: string): ChatSettings | null {
  const named = Object.values(models).find(
    ({ weights, chat }) => chat !== null && weights !== null && resolve(configFolder, weights) === path,
  )
  return named?.chat ?? null
}

/** A file as it is at one moment. */
export type FileState = {
  /** The same for all names of the same file, and another one once its content was replaced. */
  readonly identity: string
  /** The sum over all parts, where weights come in several files. */
  readonly bytes: number
  readonly changedMs: number
}

/** Null when there is no such file. */
export function readFileState(path: string): FileState | null {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return null
  const { dev, ino, size, mtimeMs } = stats
  const parts = partPaths(path).map((part) => statSync(part, { throwIfNoEntry: false })?.size ?? 0)
  const bytes = parts.reduce((sum, partBytes) => sum + partBytes, 0)
  return { identity: `${dev}:${ino}:${size}:${mtimeMs}`, bytes, changedMs: mtimeMs }
}
