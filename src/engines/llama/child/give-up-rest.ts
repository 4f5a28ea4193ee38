import { openLinuxCalls } from '../../../lib/system/linux-calls.ts'
import { callsAreFiltered } from '../confinement/plan.ts'
import { refusedAfterwards } from '../confinement/refused-calls.ts'
import { restrictCalls } from '../confinement/seccomp.ts'

/** Whether the system refuses this process some calls, as it does a confined child from its beginning. */
export function hasFilteredCalls(): boolean {
  return process.env[callsAreFiltered] !== undefined
}

/**
 * Gives up what a child needed to open its library and needs no more: starting
 * processes and calling the system by hand.
 *
 * To be called before the first byte of weights is read. Only a confined child has anything to give up.
 */
export function giveUpRest(): void {
  if (hasFilteredCalls()) restrictCalls(openLinuxCalls(), refusedAfterwards(process.pid), 'all')
  // Node's own permissions are there in the place of the system's.
  const permission = process.permission as { drop?(scope: string): void } | undefined
  permission?.drop?.('child')
  permission?.drop?.('ffi')
}
