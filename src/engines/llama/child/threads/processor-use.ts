import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** What was used of the machine's processors between two readings. */
export type ProcessorUse = {
  readonly overMs: number
  /** Processors that were there for this process: all of its affinity, less what everybody else used of them. */
  readonly free: number
}

type Reading = { readonly atMs: number; readonly idleMs: number; readonly ownMs: number; readonly processors: number }

/** Milliseconds of the unit in which Linux counts. */
const tickMs = 10

/** Reads from the kernel's own accounting how many processors others leave to this process. */
export class ProcessorMeter {
  #last: Reading | null = null

  /** Null where nothing can be told: the first time, or where the system hides it. */
  read(): ProcessorUse | null {
    const last = this.#last
    const reading = takeReading()
    this.#last = reading
    if (last === null || reading === null) return null
    const overMs = reading.atMs - last.atMs
    const free = (reading.idleMs - last.idleMs + reading.ownMs - last.ownMs) / Math.max(1, overMs)
    return { overMs, free: Math.min(reading.processors, free) }
  }
}

function takeReading(): Reading | null {
  const { user, system } = process.cpuUsage()
  const idle = process.platform === 'linux' ? readLinuxIdle() : cpus().map(({ times }) => times.idle)
  if (idle === null || idle.length === 0) return null
  const idleMs = idle.reduce((sum, ms) => sum + ms, 0)
  return { atMs: performance.now(), idleMs, ownMs: (user + system) / 1_000, processors: idle.length }
}

/** `os.cpus()` would also ask for the clock of each processor, which takes milliseconds on a large machine. */
function readLinuxIdle(): number[] | null {
  try {
    const allowed = parseProcessorList(
      /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '',
    )
    const lines = readFileSync('/proc/stat', 'utf8').matchAll(/^cpu(\d+) \d+ \d+ \d+ (\d+) (\d+)/gm)
    return Array.from(lines).flatMap(([, number, idle, waiting]) =>
      allowed.has(Number(number)) ? [(Number(idle) + Number(waiting)) * tickMs] : [],
    )
  } catch {
    return null
  }
}

/** Reads a list like `0-3,8`. */
export function parseProcessorList(list: string): ReadonlySet<number> {
  const ranges = list.split(',').filter((range) => range !== '')
  return new Set(
    ranges.flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    }),
  )
}
