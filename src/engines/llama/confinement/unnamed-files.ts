import { openLinuxCalls } from './linux-calls.ts'
import { unnamedFileCalls } from './system-calls.ts'

const closesOnExec = { pipe: 0o2000000, memoryFile: 1 } as const

/** Whether files without a name can be made here. */
export function hasUnnamedFiles(): boolean {
  const { platform, arch } = process
  return platform === 'linux' && arch in unnamedFileCalls && process.getBuiltinModule('node:ffi') !== undefined
}

/** Both ends of a pipe. Throws where the system makes none. */
export function openPipe(): { readonly reads: number; readonly writes: number } {
  const ends = Buffer.alloc(8)
  openLinuxCalls().call('a pipe', callsHere().pipe2, ends, closesOnExec.pipe)
  return { reads: ends.readInt32LE(0), writes: ends.readInt32LE(4) }
}

/**
 * Returns what makes files that lie in memory and are gone when they are closed. They count as the memory of whoever
 * may have how much, and not as a folder's.
 */
export function memoryFiles(): () => number {
  const calls = openLinuxCalls()
  const { memfd_create: number } = callsHere()
  const name = Buffer.from('odyssey\0')
  return () => calls.call('a file in memory', number, name, closesOnExec.memoryFile)
}

function callsHere(): { readonly pipe2: number; readonly memfd_create: number } {
  const { arch } = process
  if (arch !== 'x64' && arch !== 'arm64') throw new Error(`No files without a name are made on ${arch}.`)
  return unnamedFileCalls[arch]
}
