import { hasLinuxCalls, openLinuxCalls } from '../../../lib/system/linux-calls.ts'
import { unnamedFileCalls } from './system-calls.ts'

const closesOnExec = { pipe: 0o2000000, memoryFile: 1 } as const

/** Whether files without a name can be made here. */
export function hasUnnamedFiles(): boolean {
  return hasLinuxCalls() && process.arch in unnamedFileCalls
}

/** Both ends of a pipe. Throws where the system makes none. */
export function openPipe(): { readonly reads: number; readonly writes: number } {
  const ends = Buffer.alloc(8)
  openLinuxCalls().call('a pipe', callNumbers().pipe2, ends, closesOnExec.pipe)
  return { reads: ends.readInt32LE(0), writes: ends.readInt32LE(4) }
}

/**
 * Returns what makes files that lie in memory and are gone when they are closed. They count as the memory of whoever
 * may have how much, and not as a folder's.
 */
export function memoryFiles(): () => number {
  const calls = openLinuxCalls()
  const { memfd_create: number } = callNumbers()
  const name = Buffer.from('odyssey\0')
  return () => calls.call('a file in memory', number, name, closesOnExec.memoryFile)
}

/** Throws for a machine whose numbers are not known. */
function callNumbers(): (typeof unnamedFileCalls)['x64' | 'arm64'] {
  const { arch } = process
  if (arch === 'x64' || arch === 'arm64') return unnamedFileCalls[arch]
  throw new Error(`No files without a name are made on ${arch}.`)
}
