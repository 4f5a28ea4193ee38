import type { Weights } from '../gguf/inspect-weights.ts'
import type { GgufMetadata } from '../gguf/read-metadata.ts'

export type MemoryNeeds = {
  readonly weights: Weights
  readonly slots: number
  readonly windowTokensMax: number
  /** For prompts that have left their slots. */
  readonly cacheBytesMax: number
  /** What the machine, or its container, has. */
  readonly machineBytes: number
}

/** The rest is for the service and for everything else on the machine. */
const machineShare = 0.75
/** Processors have weights laid out anew for them, which makes a second copy at most. */
const copies = 2
/** The engine's program, its buffers for a step, and Node's own memory at its largest. */
const workBytes = 4 * 1024 ** 3
/** Numbers of the attention's memory are of 16 bits. */
const numberBytes = 2

/**
 * The most memory that an engine could need for these weights, or three quarters of the machine's where that is less.
 *
 * What takes more than it could need is out of hand, and what takes more than that share takes it from everyone else.
 */
export function memoryBound({ weights, slots, windowTokensMax, cacheBytesMax, machineBytes }: MemoryNeeds): number {
  const share = Math.floor(machineBytes * machineShare)
  const { metadata, architecture } = weights
  const trained = read(metadata, `${architecture}.context_length`)
  const perToken = tokenBytes(metadata, architecture)
  if (trained === null || perToken === null) return share
  const answers = perToken * slots * Math.min(trained, windowTokensMax)
  return Math.floor(Math.min(share, weights.bytes * copies + answers + cacheBytesMax + workBytes))
}

/** What the engine keeps of each token of a conversation; null where the weights do not say enough. */
function tokenBytes(metadata: GgufMetadata, architecture: string): number | null {
  const of = (name: string) => read(metadata, `${architecture}.${name}`)
  const [layers, width, heads] = [of('block_count'), of('embedding_length'), of('attention.head_count')]
  if (layers === null || width === null || heads === null || heads === 0) return null
  const keyLength = of('attention.key_length') ?? width / heads
  const valueLength = of('attention.value_length') ?? width / heads
  return layers * (of('attention.head_count_kv') ?? heads) * (keyLength + valueLength) * numberBytes
}

/** A list has a number for each layer, of which the largest stands for all. */
function read(metadata: GgufMetadata, key: string): number | null {
  const value = metadata[key]
  if (typeof value === 'number') return value
  return typeof value === 'object' && value !== null && value.length > 0 ? Math.max(...value) : null
}
