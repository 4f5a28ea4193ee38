import { readdirSync } from 'node:fs'
import { platform, setPriority } from 'node:os'
import { hasLinuxCalls, openLinuxCalls } from './linux-calls.ts'

/** With this priority a process gets, where processors are short, three times what another one gets, and starves none. */
export const precedingPriority = -5

/** With this priority a thread gets, where processors are short, a third of what another one gets, and is never starved. */
export const yieldingPriority = 5

/** With this priority a process gets, where processors are short, a tenth of what another one gets, and is never starved. */
export const backgroundPriority = 10

/**
 * Linux lets nobody in before a thread has had a turn, of 0.7 ms and longer, however little it is due. An answer waits
 * for that with each of its tokens, so whoever gives way has turns of the shortest length that the system knows. Whoever
 * precedes others has them too: of two that are due, the one with the shorter turn is let in first.
 */
const turnNs = 100_000n

/** `sched_setattr`, by Linux's tables. */
const setAttributes: Partial<Record<NodeJS.Architecture, number>> = { x64: 314, arm64: 274 }

/** Has the calling thread yield the processor to others, where the system knows priorities of single threads. */
export function yieldProcessor(): void {
  // Elsewhere the number 0 stands for the whole process.
  if (platform() === 'linux') prioritize([0], yieldingPriority)
}

/** The threads of a process, where the system has priorities of threads; else the process. None where it has ended. */
export function threadsOf(pid: number): readonly number[] {
  if (platform() !== 'linux') return [pid]
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number)
  } catch {
    return []
  }
}

/**
 * Has threads yield the processor to others, or precede them. Does nothing with those that have ended. Returns whether the
 * system allows it: to precede others takes a right that few processes have.
 */
export function prioritize(threads: readonly number[], priority: number): boolean {
  const shortenTurns = openTurns(priority)
  let isAllowed = true
  for (const thread of threads) {
    try {
      setPriority(thread, priority)
      shortenTurns(thread)
    } catch (error) {
      // Those that have ended aside, its system allows less: then it gives way less.
      isAllowed &&= !isRefusal(error)
    }
  }
  return isAllowed
}

function isRefusal(error: unknown): boolean {
  const { info } = error as { readonly info?: { readonly code?: string } }
  return info?.code === 'EACCES' || info?.code === 'EPERM'
}

/** Kernels before 6.12 take no notice of it. */
function openTurns(priority: number): (thread: number) => void {
  const number = setAttributes[process.arch]
  if (number === undefined || !hasLinuxCalls()) return () => {}
  const calls = openLinuxCalls()
  const attributes = Buffer.alloc(48)
  attributes.writeUInt32LE(attributes.length, 0)
  attributes.writeInt32LE(priority, 16)
  attributes.writeBigUInt64LE(turnNs, 24)
  return (thread) => void calls.call('shorter turns', number, thread, attributes, 0)
}
