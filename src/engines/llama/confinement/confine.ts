import { restrictFiles } from './landlock.ts'
import { openLinuxCalls, type LinuxCalls } from './linux-calls.ts'
import type { ConfinementPlan, ConfinementReport } from './plan.ts'
import { refusedFromTheStart } from './refused-calls.ts'
import { restrictCalls } from './seccomp.ts'

export type Confined = ConfinementReport & {
  /** What has to be done for the program that takes the place of this one; null where the calls are not to be had. */
  readonly calls: LinuxCalls | null
  /** The system itself keeps the files from the child, so that Node need not. */
  readonly hasFiles: boolean
  readonly hasCalls: boolean
}

const noNewPrivileges = 38
const dropsFromBoundingSet = 24
/** Root may go on reading and writing files of other users, as far as it may reach them at all. */
const keptCapabilities: ReadonlySet<number> = new Set([1, 2])
const capabilitiesMost = 63

type Layer = { readonly name: string; enforce(calls: LinuxCalls): readonly string[] }

/**
 * Puts all layers into force that this system has, for this thread and the program that takes its place.
 *
 * Whether one can be had is found out by having it: kernels, containers and
 * policies differ too much for anything else to tell.
 *
 * @public The first stage loads it in a way that the search for unused code does not see.
 */
export function confine({ paths, dataBytesMax }: ConfinementPlan): Confined {
  const layers: readonly Layer[] = [
    { name: 'capabilities of root', enforce: dropCapabilities },
    { name: 'no new privileges', enforce: (calls) => done(calls.setOption(noNewPrivileges, 1), 'no new privileges') },
    { name: 'memory', enforce: (calls) => limitMemory(calls, dataBytesMax) },
    { name: 'file system', enforce: (calls) => restrictFiles(calls, paths) },
    {
      name: 'network and other system calls',
      enforce: (calls) => done(restrictCalls(calls, refusedFromTheStart), 'network', 'system calls (seccomp)'),
    },
  ]
  const inForce: string[] = []
  const missing: string[] = []
  const calls = openCalls(missing)
  if (calls === null) return { inForce, missing, calls, hasFiles: false, hasCalls: false }
  for (const { name, enforce } of layers) {
    try {
      inForce.push(...enforce(calls))
    } catch (error) {
      missing.push(`${name} (${error instanceof Error ? error.message : String(error)})`)
    }
  }
  const has = (layer: string) => inForce.some((name) => name.startsWith(layer))
  return { inForce, missing, calls, hasFiles: has('file system'), hasCalls: has('system calls') }
}

function openCalls(missing: string[]): LinuxCalls | null {
  try {
    return openLinuxCalls()
  } catch (error) {
    missing.push(`all of it (${error instanceof Error ? error.message : String(error)})`)
    return null
  }
}

function limitMemory(calls: LinuxCalls, dataBytesMax: number | null): string[] {
  // What is in memory when a process crashes are conversations.
  calls.limit('core', 0)
  if (dataBytesMax !== null) calls.limit('data', dataBytesMax)
  return []
}

/** Only root has any. What is not in the bounding set is not given to the program that takes the place of this one. */
function dropCapabilities(calls: LinuxCalls): string[] {
  if (process.getuid?.() !== 0) return []
  for (let capability = 0; capability <= capabilitiesMost; capability++) {
    if (keptCapabilities.has(capability)) continue
    try {
      calls.setOption(dropsFromBoundingSet, capability)
    } catch {
      // The last ones are not known to every kernel, and in a container it may not be allowed to drop what is not there.
    }
  }
  return []
}

function done(_: void, ...names: readonly string[]): readonly string[] {
  return names
}
