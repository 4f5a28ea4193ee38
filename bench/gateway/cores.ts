import { spawnSync } from 'node:child_process'

/** Lists of processor cores, as `taskset` takes them; null where nothing is pinned. */
export type Cores = { readonly gateway: string | null; readonly others: string | null }

/** One core for the gateway and the rest for the load and the mock, where `taskset` and two cores are there. */
export function chooseCores(gateway: string | undefined, others: string | undefined): Cores {
  const available = availableCores()
  if (available.length < 2) return { gateway: null, others: null }
  const [first, ...rest] = available
  return { gateway: gateway ?? String(first), others: others ?? rest.join(',') }
}

/** Puts a process that runs, with all its threads, on these cores. */
export function pin(pid: number, cores: string | null): void {
  if (cores !== null) spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', cores, String(pid)])
}

/** How to start a program on these cores. */
export function pinned(command: readonly string[], cores: string | null): string[] {
  return cores === null ? [...command] : ['taskset', '--cpu-list', cores, ...command]
}

function availableCores(): number[] {
  const { status, stdout } = spawnSync('taskset', ['--pid', '--cpu-list', String(process.pid)], { encoding: 'utf8' })
  if (status !== 0) return []
  const list = /: *([\d,-]+)\s*$/.exec(stdout)?.[1] ?? ''
  return list.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number)
    return Array.from({ length: to - from + 1 }, (_, index) => from + index)
  })
}
