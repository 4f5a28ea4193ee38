import type { Clock } from '../lib/clock.ts'

/** A port and a data folder that are held this much longer keep nobody from starting again. */
const pollMs = 500

/**
 * Calls when the launcher is gone. It passes signals on as long as it lives; killed, it cannot, and a service without
 * it would hold its port and its data folder with nobody to stop it.
 */
export function watchLauncher(pid: number, clock: Clock, gone: () => void): void {
  const poll = () => {
    if (isAlive(pid)) clock.after(pollMs, poll)
    else gone()
  }
  clock.after(pollMs, poll)
}

function isAlive(pid: number): boolean {
  // Where a process outlives its parent it is given another one; Windows leaves it the number.
  if (process.ppid !== pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
