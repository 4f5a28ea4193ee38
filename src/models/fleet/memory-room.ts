import { existsSync } from 'node:fs'
import { totalmem } from 'node:os'
import type { Config } from '../../config/schema.ts'
import { formatBytes } from '../../lib/format-bytes.ts'

export type Memory = {
  /** What the machine or its container has. */
  readonly totalBytes: number
  readonly availableBytes: number
}

/** An eighth of the memory holds prompts that have left their slots. */
export const cacheShareDefault = 8

/** The rest is for the answers' memory and for everything else on the machine. */
const shareForWeights = 0.9

/**
 * Why weights do not fit beside those that are loaded, or null when they do.
 *
 * The loaded ones count in full: the system calls the memory of a file that was
 * read available, though every answer needs it.
 */
export function lackOfMemory(newBytes: number, loadedBytes: number, memory: Memory): string | null {
  const room = Math.min(memory.totalBytes * shareForWeights - loadedBytes, memory.availableBytes)
  if (newBytes <= room) return null
  return (
    `The new weights take ${formatBytes(newBytes)} of memory, and beside the ${formatBytes(loadedBytes)} ` +
    `that are loaded there is room for ${formatBytes(Math.max(0, room))}. ` +
    'Stop the service, run this command again and start the service.'
  )
}

export function readMemory(): Memory {
  const totalBytes = Math.min(totalmem(), process.constrainedMemory() || Infinity)
  return { totalBytes, availableBytes: process.availableMemory() }
}

/** Whether weights may go to a device of its own memory, which only its driver can judge. */
export function mayUseDevice(gpu: Config['engine']['gpu']): boolean {
  if (gpu !== 'auto') return gpu !== 'off'
  if (process.platform !== 'linux') return true
  return ['/dev/nvidiactl', '/dev/kfd', '/dev/dri'].some((path) => existsSync(path))
}
