import type { ModelId } from '../../core/model.ts'
import { lackOfMemory, type Memory } from '../fleet/memory-room.ts'

/** Weights that others have published, with what `docs/models.md` recommends them for. */
type Known = {
  readonly name: string
  /** As `models pull` takes it. */
  readonly source: string
  /** As published; other publishers' files differ by some percent. */
  readonly bytes: number
  readonly models: readonly ModelId[]
}

const small: readonly ModelId[] = ['tycho-1.0']
const large: readonly ModelId[] = ['hal-1.0', 'clarke-1.0']

const known: readonly Known[] = [
  {
    name: 'Qwen3.5-4B, Q4_K_M',
    source: 'unsloth/Qwen3.5-4B-GGUF/Qwen3.5-4B-Q4_K_M.gguf',
    bytes: 2_740_000_000,
    models: ['hal-1.0', 'clarke-1.0', 'tycho-1.0'],
  },
  {
    name: 'Qwen3.5-4B, Q8_0',
    source: 'unsloth/Qwen3.5-4B-GGUF/Qwen3.5-4B-Q8_0.gguf',
    bytes: 4_500_000_000,
    models: small,
  },
  {
    name: 'Qwen3.5-9B, Q4_K_M',
    source: 'unsloth/Qwen3.5-9B-GGUF/Qwen3.5-9B-Q4_K_M.gguf',
    bytes: 5_680_000_000,
    models: large,
  },
  {
    name: 'gpt-oss-20b, MXFP4',
    source: 'lmstudio-community/gpt-oss-20b-GGUF/gpt-oss-20b-MXFP4.gguf',
    bytes: 12_110_000_000,
    models: large,
  },
  {
    name: 'Qwen3.6-27B, Q4_K_M',
    source: 'unsloth/Qwen3.6-27B-GGUF/Qwen3.6-27B-Q4_K_M.gguf',
    bytes: 16_800_000_000,
    models: ['hal-1.0'],
  },
  {
    name: 'Qwen3.6-35B-A3B, Q4_K_M',
    source: 'ggml-org/Qwen3.6-35B-A3B-GGUF/Qwen3.6-35B-A3B-Q4_K_M.gguf',
    bytes: 21_200_000_000,
    models: large,
  },
]

/** Weights alone answer nobody: a few answers' memory comes to some seventh of theirs. */
const withAnswers = 1.15

/** The loaded weights count in full while a swap goes on, and not at all for a service that starts with the new ones. */
export type Fit = 'beside' | 'alone' | 'no'

export type Recommendation = Known & { readonly fit: Fit }

/** Whether weights fit into a machine's memory: beside those that are loaded, or only in their place. */
export function fitOf(bytes: number, loadedBytes: number, memory: Memory): Fit {
  const neededBytes = bytes * withAnswers
  if (lackOfMemory(neededBytes, loadedBytes, memory) === null) return 'beside'
  const whenAlone = { ...memory, availableBytes: memory.totalBytes }
  return lackOfMemory(neededBytes, 0, whenAlone) === null ? 'alone' : 'no'
}

/** What may be fetched for a machine, the largest that fits first. */
export function recommendWeights(loadedBytes: number, memory: Memory): Recommendation[] {
  const order: readonly Fit[] = ['beside', 'alone', 'no']
  return known
    .map((weights) => ({ ...weights, fit: fitOf(weights.bytes, loadedBytes, memory) }))
    .toSorted((one, other) => order.indexOf(one.fit) - order.indexOf(other.fit) || other.bytes - one.bytes)
}
