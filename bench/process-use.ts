import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

/** What processes have used, as Linux tells it; null elsewhere. */
export type ProcessUse = { readonly cpuMs: number; readonly peakBytes: number }

/** The use of a process and all that descend from it, without those that have ended meanwhile. */
export function useOfTree(pid: number): ProcessUse | null {
  try {
    const uses = treeOf(pid).map(useOf)
    return {
      cpuMs: uses.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
      peakBytes: uses.reduce((sum, { peakBytes }) => sum + peakBytes, 0),
    }
  } catch {
    return null
  }
}

/** The use of a tree of processes; its next look tells the peak of memory from now on. */
export function useOfTreeSinceLast(pid: number): ProcessUse | null {
  const use = useOfTree(pid)
  if (use !== null) for (const member of treeOf(pid)) forgetPeak(member)
  return use
}

/** The peak of one process's memory since this was last asked; null elsewhere than on Linux. */
export function peakSinceLast(pid: number): number | null {
  try {
    const { peakBytes } = useOf(pid)
    forgetPeak(pid)
    return peakBytes
  } catch {
    return null
  }
}

/** What `clear_refs` takes for "the peak begins at what is resident now". */
const peakBeginsNow = '5'

function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, peakBeginsNow)
  } catch {
    // A process that has ended, or one of another user: its peak stays that of its whole life.
  }
}

/** The use of one process. Throws where there is none, or no Linux. */
export function useOf(pid: number): ProcessUse {
  const threads = readdirSync(`/proc/${pid}/task`)
  // Nanoseconds, where the ticks of `stat` are hundredths of a second.
  const cpuNs = threads.reduce((sum, thread) => sum + readCpuNs(`/proc/${pid}/task/${thread}/schedstat`), 0)
  const peakKb = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0
  return { cpuMs: cpuNs / 1e6, peakBytes: Number(peakKb) * 1_024 }
}

function readCpuNs(path: string): number {
  return Number(readFileSync(path, 'utf8').split(' ', 1)[0])
}

function treeOf(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    if (/^\d+$/.test(name)) parents.set(Number(name), parentOf(name) ?? 0)
  }
  const tree = [pid]
  // The list grows while it is gone through, until no descendant is left.
  for (const member of tree) for (const [child, parent] of parents) if (parent === member) tree.push(child)
  return tree
}

/** Null for a process that has ended. The name, in brackets, may itself hold brackets and spaces. */
function parentOf(pid: string): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return null
  }
}
