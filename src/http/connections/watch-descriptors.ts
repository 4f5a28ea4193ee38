import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { every, type Clock } from '../../lib/clock.ts'
import type { Log } from '../../telemetry/log.ts'

export type DescriptorsWatched = {
  readonly clock: Clock
  readonly log: Log
  /** The most that the system lets this process have; null where it does not say. */
  readonly descriptorsMax: number | null
  /** Counts those in use; null where nobody can tell. */
  count(): Promise<number | null>
}

const lookEveryMs = 10_000
/** Enough are left then to act: to raise the limit, or to see who holds the connections. */
const warnAt = 0.8
/** Below this the next warning is a new one. */
const calmAt = 0.7

/** Warns in the log before this process runs out of descriptors, once each time. Returns the way to stop. */
export function watchDescriptors({ clock, log, descriptorsMax, count }: DescriptorsWatched): () => void {
  if (descriptorsMax === null) return () => {}
  let isWarned = false
  let isStopped = false
  const look = async () => {
    const open = await count()
    if (isStopped) return
    if (open === null) return void stop()
    if (!isWarned && open >= descriptorsMax * warnAt) {
      isWarned = true
      const words = 'file descriptors are running out: connections will soon be refused; raise the limit (ulimit -n)'
      log.warn({ descriptors: open, descriptors_max: descriptorsMax }, words)
    } else if (open < descriptorsMax * calmAt) isWarned = false
  }
  const stop = every(clock, lookEveryMs, look)
  return () => {
    isStopped = true
    void stop()
  }
}

type Report = { readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } } }

/** The limit that the process was started under; null where nobody can tell, or there is none. */
export function readDescriptorsMax(): number | null {
  return process.platform === 'linux' ? readSystemLimit() : readReportedLimit()
}

function readSystemLimit(): number | null {
  const soft = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
  return soft === undefined ? null : Number(soft)
}

/** A report takes Node some 50 ms to make. */
function readReportedLimit(): number | null {
  const report = process.report as typeof process.report & { excludeNetwork: boolean }
  const before = report.excludeNetwork
  // Otherwise names would be looked up in the network.
  report.excludeNetwork = true
  const { userLimits } = report.getReport() as Report
  report.excludeNetwork = before
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : null
}

/** Counts what this process has open. */
export async function countDescriptors(): Promise<number | null> {
  try {
    return (await readdir('/dev/fd')).length
  } catch {
    return null
  }
}
