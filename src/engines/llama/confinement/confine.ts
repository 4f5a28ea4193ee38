import { openLinuxCalls, type LinuxCalls } from '../../../lib/system/linux-calls.ts'
import type { ConfinementPlan, ConfinementReport, ReachablePaths } from './plan.ts'
import { refusedFromTheStart } from './refused-calls.ts'
import { restrictCalls } from './seccomp.ts'
import { closeSync, fstatSync, openSync } from 'node:fs'
import { commonCallNumbers } from './system-calls.ts'

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
export function confine({ paths, drivesNvidia, dataBytesMax }: ConfinementPlan): Confined {
  const layers: readonly Layer[] = [
    { name: 'capabilities of root', enforce: dropCapabilities },
    { name: 'no new privileges', enforce: (calls) => done(calls.setOption(noNewPrivileges, 1), 'no new privileges') },
    { name: 'memory', enforce: (calls) => limitMemory(calls, dataBytesMax) },
    { name: 'file system', enforce: (calls) => restrictFiles(calls, paths, drivesNvidia) },
    {
      name: 'network and other system calls',
      enforce: (calls) =>
        done(restrictCalls(calls, refusedFromTheStart(drivesNvidia)), 'network', 'system calls (seccomp)'),
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

// Landlock lets a process give up the file system but for what it names. No privilege is needed, and
// nothing that the process starts can take it back. The numbers are those of linux/landlock.h.

const {
  landlock_create_ruleset: createRuleset,
  landlock_add_rule: addsRule,
  landlock_restrict_self: restrictSelf,
} = commonCallNumbers
const asksForVersion = 1
const pathRule = 1

const rights = {
  execute: 1 << 0,
  writeFile: 1 << 1,
  readFile: 1 << 2,
  readFolder: 1 << 3,
  /** Removing and making files of all kinds. */
  changeFolder: 0x1ff << 4,
  refer: 1 << 13,
  truncate: 1 << 14,
  commandDevice: 1 << 15,
} as const

/** NVIDIA's driver names its threads in here, and fails where it cannot. The program that takes this one's place is the same process. */
const ownProcess = '/proc/self'

const readRights = rights.readFile | rights.readFolder
const writeRights = readRights | rights.writeFile | rights.changeFolder | rights.refer | rights.truncate
const deviceRights = readRights | rights.writeFile | rights.commandDevice
const programRights = rights.readFile | rights.execute
/** The rights that make sense for a file; the system refuses a rule that gives others to one. */
const fileRights = rights.execute | rights.writeFile | rights.readFile | rights.truncate | rights.commandDevice

/** Only a name of the file, which is all a rule needs, and no right to its content. */
const openPathOnly = 0o10000000

/** Puts Landlock into force for this thread and the program that takes its place. Returns what that keeps from it. */
export function restrictFiles(calls: LinuxCalls, paths: ReachablePaths, namesThreads = false): string[] {
  const version = calls.call('Landlock', createRuleset, 0, 0, asksForVersion)
  const handled = handledRights(version)
  const [connectsAndListens, signalsAndSockets] = [version >= 4 ? 3 : 0, version >= 6 ? 3 : 0]
  const words = [handled, connectsAndListens, signalsAndSockets].slice(0, version >= 6 ? 3 : version >= 4 ? 2 : 1)
  const attributes = Buffer.from(BigUint64Array.from(words, BigInt).buffer)
  const ruleset = calls.call('Landlock', createRuleset, attributes, attributes.length, 0)
  const allow = (path: string, wanted: number) => addRule(calls, { ruleset, path, wanted: wanted & handled })
  for (const path of paths.read) allow(path, readRights)
  if (namesThreads) allow(ownProcess, rights.writeFile | rights.truncate)
  for (const path of paths.list) allow(path, rights.readFolder)
  for (const path of paths.write) allow(path, writeRights)
  for (const path of paths.devices) allow(path, deviceRights)
  for (const path of paths.execute) allow(path, programRights)
  calls.call('Landlock', restrictSelf, ruleset, 0)
  closeSync(ruleset)
  return ['file system (Landlock)', ...(version >= 6 ? ['signals to other processes (Landlock)'] : [])]
}

/** Each version knows more rights; what a version does not know it cannot keep from anyone. */
function handledRights(version: number): number {
  if (version >= 5) return 0xffff
  if (version >= 3) return 0x7fff
  return version === 2 ? 0x3fff : 0x1fff
}

type Rule = { readonly ruleset: number; readonly path: string; readonly wanted: number }

function addRule(calls: LinuxCalls, { ruleset, path, wanted }: Rule): void {
  const file = openIfThere(path)
  if (file === null) return
  try {
    const attributes = Buffer.alloc(12)
    const allowed = fstatSync(file).isDirectory() ? wanted : wanted & fileRights
    attributes.writeBigUInt64LE(BigInt(allowed))
    attributes.writeInt32LE(file, 8)
    calls.call('Landlock', addsRule, ruleset, pathRule, attributes, 0)
  } finally {
    closeSync(file)
  }
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, openPathOnly)
  } catch {
    return null
  }
}
