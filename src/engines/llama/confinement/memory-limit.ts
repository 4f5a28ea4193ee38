import type { RopeScaling } from '../../../config/models-schema.ts'
import { kvCacheBytes, type KvCacheType } from '../ipc.ts'
import { scaledWindow } from '../gguf/rope-scaling.ts'
import type { Weights } from '../gguf/inspect-weights.ts'
import type { GgufMetadata } from '../gguf/read-metadata.ts'
import { readFileSync } from 'node:fs'
import { every, type Clock } from '../../../lib/clock.ts'

export type MemoryNeeds = {
  readonly weights: Weights
  readonly slots: number
  readonly windowTokensMax: number
  readonly kvCacheType: KvCacheType
  readonly ropeScaling: RopeScaling | null
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

/**
 * The most memory that an engine could need for these weights, or three quarters of the machine's where that is less.
 *
 * An engine that takes more than it could need is out of hand, and one that takes more than that share takes it from
 * everyone else.
 */
export function memoryBound({ weights, slots, windowTokensMax, machineBytes, ...needs }: MemoryNeeds): number {
  const share = Math.floor(machineBytes * machineShare)
  const { metadata, architecture } = weights
  const window = scaledWindow(read(metadata, `${architecture}.context_length`), needs.ropeScaling)
  const perToken = tokenNumbers(metadata, architecture)
  if (window === null || perToken === null) return share
  const answers = perToken * kvCacheBytes[needs.kvCacheType] * slots * Math.min(window, windowTokensMax)
  return Math.floor(Math.min(share, weights.bytes * copies + answers + needs.cacheBytesMax + workBytes))
}

/** How many numbers the engine keeps of each token of a conversation; null where the weights do not say enough. */
function tokenNumbers(metadata: GgufMetadata, architecture: string): number | null {
  const of = (name: string) => read(metadata, `${architecture}.${name}`)
  const [layers, width, heads] = [of('block_count'), of('embedding_length'), of('attention.head_count')]
  if (layers === null || width === null || heads === null || heads === 0) return null
  const keyLength = of('attention.key_length') ?? width / heads
  const valueLength = of('attention.value_length') ?? width / heads
  return layers * (of('attention.head_count_kv') ?? heads) * (keyLength + valueLength)
}

/** A list has a number for each layer, of which the largest stands for all. */
function read(metadata: GgufMetadata, key: string): number | null {
  const value = metadata[key]
  if (typeof value === 'number') return value
  return typeof value === 'object' && value !== null && value.length > 0 ? Math.max(...value) : null
}

/** Memory is written at some gigabytes a second, so a child is seen soon after it has gone too far. */
const lookEveryMs = 250

/**
 * Bytes that only this process has in memory or swapped out. The pages of weights that it maps are the file's, not its own.
 *
 * The kernel writes the file while it is read, in less time than it takes to have another thread read it.
 */
function readOwnBytes(pid: number): number {
  const status = readStatus(pid)
  const kilobytes = [...status.matchAll(/^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$/gm)]
  return kilobytes.reduce((sum, [, value]) => sum + Number(value) * 1_024, 0)
}

/** Nothing where the process has ended. */
function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return ''
  }
}

/** Calls `onExceeded` once when a child has more memory than it may. Returns the way to stop. */
export function watchMemory(
  pid: number | undefined,
  {
    bytesMax,
    clock,
    onExceeded,
  }: { readonly bytesMax: number; readonly clock: Clock; onExceeded(bytes: number): void },
): () => void {
  if (process.platform !== 'linux' || pid === undefined) return () => {}
  let isOver = false
  const end = () => {
    isOver = true
    void stop()
  }
  const look = () => {
    const bytes = readOwnBytes(pid)
    if (isOver || bytes <= bytesMax) return
    end()
    onExceeded(bytes)
  }
  const stop = every(clock, lookEveryMs, look)
  return end
}
