import { existsSync, readFileSync } from 'node:fs'
import { pause } from './campaign.ts'

/** Only Linux tells of a process by files; elsewhere these measures are left out. */
const hasProcFiles = existsSync('/proc/self/stat')

/** The processor time a process has used, in hundredths of a second; null where that cannot be told. */
export function processorTicks(pid: number): number | null {
  const fields = statFields(pid)
  if (fields === null) return null
  // Fields 14 and 15 of proc(5), counted from the state, which is the third.
  return Number(fields[11]) + Number(fields[12])
}

/** Resident memory in MiB; null where that cannot be told. */
export function residentMiB(pid: number): number | null {
  if (!hasProcFiles) return null
  const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return kib === undefined ? null : Math.round(Number(kib) / 1024)
}

/** Memory goes back within a while; the wait ends early where it has. */
export async function settledMemory(pid: number, enough: number): Promise<number | null> {
  for (let seconds = 0; seconds < 90; seconds++) {
    const held = residentMiB(pid)
    if (held === null || held <= enough) return held
    await pause(1_000)
  }
  return residentMiB(pid)
}

/** A process that has ended and was not waited for yet counts as gone. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  return statFields(pid)?.[0] !== 'Z'
}

/** Waits until a process is gone. Returns how long that took, or null when it outlived the wait. */
export async function untilGone(pid: number, waitMs: number): Promise<number | null> {
  const startedMs = performance.now()
  while (isRunning(pid)) {
    if (performance.now() - startedMs > waitMs) return null
    await pause(20)
  }
  return performance.now() - startedMs
}

/**
 * Waits until a process does next to nothing for a whole second.
 *
 * Returns how long it went on before, or null when it never came to rest. What
 * an idle engine child still does, answering a ping each second, is below the
 * five hundredths of a second allowed here.
 */
export async function untilIdle(pid: number, waitMs: number): Promise<number | null> {
  if (!hasProcFiles) return 0
  const startedMs = performance.now()
  while (performance.now() - startedMs < waitMs) {
    const beganMs = performance.now()
    const before = processorTicks(pid) ?? 0
    await pause(1_000)
    if ((processorTicks(pid) ?? 0) - before <= 5) return beganMs - startedMs
  }
  return null
}

/** What stands behind the name in /proc/PID/stat; the name itself may hold anything. */
function statFields(pid: number): string[] | null {
  if (!hasProcFiles) return null
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}
