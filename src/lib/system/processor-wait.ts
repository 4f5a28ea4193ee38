import { readFileSync } from 'node:fs'

/**
 * How long the first thread of a process has waited for a processor in all, in milliseconds: it could have gone on, and
 * others were served. Null where the system does not tell, which Linux alone does, and for a process that has ended.
 */
export function processorWaitMs(pid: number | undefined): number | null {
  if (pid === undefined || process.platform !== 'linux') return null
  try {
    // Nanoseconds on a processor, nanoseconds of waiting for one, turns.
    const waitedNs = Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')[1])
    return Number.isFinite(waitedNs) ? waitedNs / 1e6 : null
  } catch {
    return null
  }
}
