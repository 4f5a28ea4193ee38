import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hasNvidiaCard } from '../nvidia-card.ts'
import type { ReachablePaths } from './plan.ts'

export type Needs = {
  readonly entryPath: string
  readonly weightsPaths: readonly string[]
  /** Folders of the child's own. */
  readonly folders: readonly string[]
  /** Whether weights may go to a graphics card. */
  readonly usesDevices: boolean
  readonly environment: Readonly<Record<string, string>>
}

/** Libraries of the system and of drivers, and what they look up. Nothing of it is anyone's secret. */
const systemPaths = [
  '/lib',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
  '/usr/local/lib',
  '/usr/share/zoneinfo',
  '/nix/store',
  '/run/opengl-driver',
  '/etc/group',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/nsswitch.conf',
  '/etc/os-release',
  '/etc/passwd',
  '/etc/ssl/openssl.cnf',
  '/dev/random',
  '/dev/urandom',
  '/dev/zero',
  // The processor, the memory there is, and the limits of a container. The kernel keeps other processes' own
  // memory, environment and files from a confined process in here too.
  '/proc',
  '/sys',
]

/** What the drivers of graphics cards read besides. */
const driverPaths = [
  '/etc/OpenCL',
  '/etc/glvnd',
  '/etc/nvidia',
  '/etc/vulkan',
  '/usr/share/drirc.d',
  '/usr/share/glvnd',
  '/usr/share/nvidia',
  '/usr/share/vulkan',
]

/** By folder: how the names of drivers' own folders, and of graphics cards, begin. */
const driverNames = { '/opt': ['amdgpu', 'cuda', 'intel', 'nvidia', 'rocm'], '/usr/local': ['cuda', 'nvidia'] }
const deviceNames = { '/dev': ['dri', 'dxg', 'kfd', 'nvidia'] }

/** Variables whose value is a path, or several, at which libraries are found. */
const pathVariables = ['LD_LIBRARY_PATH', 'CUDA_PATH', 'VK_DRIVER_FILES', 'NODE_COMPILE_CACHE']

/** Product code: this file lies four folders below its root. */
const productRoot = fileURLToPath(new URL('../../../../', import.meta.url))

/** All that an engine's child needs of the file system: the weights, its own folders, its code and the system's libraries. */
export function findReachablePaths({
  entryPath,
  weightsPaths,
  folders,
  usesDevices,
  environment,
}: Needs): ReachablePaths {
  const named = pathVariables.flatMap((name) => environment[name]?.split(delimiter) ?? [])
  return {
    read: withTargets([
      entryPath,
      ...weightsPaths,
      ...['src', 'dist', 'package.json'].map((name) => join(productRoot, name)),
      ...modulesFolders(productRoot),
      ...named.filter((path) => path !== ''),
      ...(process.platform === 'linux' ? systemPaths : []),
      ...(usesDevices ? [...driverPaths, ...beginningWith(driverNames)] : []),
    ]),
    // The library looks which versions of a driver there are.
    list: withTargets(usesDevices ? ['/usr/local'] : []),
    write: withTargets([...folders, ...(usesDevices ? driverCaches(environment) : [])]),
    devices: withTargets(['/dev/null', ...(usesDevices ? beginningWith(deviceNames) : [])]),
    execute: withTargets([process.execPath, ...programLoaders()]),
  }
}

/** The paths in each folder whose names begin as listed. */
function beginningWith(beginnings: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(beginnings).flatMap(([folder, names]) =>
    listNames(folder)
      .filter((name) => names.some((beginning) => name.startsWith(beginning)))
      .map((name) => join(folder, name)),
  )
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Where dependencies may lie: beside the product's code, or above where the product is itself a dependency. */
function modulesFolders(folder: string): string[] {
  const here = join(folder, 'node_modules')
  const above = dirname(folder)
  return [...(existsSync(here) ? [here] : []), ...(above === folder ? [] : modulesFolders(above))]
}

/**
 * Drivers compile a part of themselves when they are first used and keep it; without that every start takes long.
 *
 * A child may not make the folder of NVIDIA's, so it is made for it. Where its user has no home that it may write to, nothing is kept.
 */
function driverCaches({ HOME: home }: Readonly<Record<string, string>>): string[] {
  if (home === undefined) return []
  const nvidia = join(home, '.nv/ComputeCache')
  try {
    if (hasNvidiaCard()) mkdirSync(nvidia, { recursive: true, mode: 0o700 })
  } catch {
    // The home is another's, or read-only.
  }
  return [nvidia, join(home, '.cache/mesa_shader_cache')]
}

/** The system's program that loads Node's libraries, and so is started with it. */
function programLoaders(): string[] {
  if (process.platform !== 'linux') return []
  const loaded = readFileSync('/proc/self/maps', 'utf8').matchAll(/ (\/\S*\/ld[-.][^/\s]*|\/\S*\/ld-musl[^/\s]*)$/gm)
  return [...new Set(Array.from(loaded, ([, path = '']) => path))]
}

/** A link is of no use without what it leads to. */
function withTargets(paths: readonly string[]): string[] {
  const there = paths.filter((path) => existsSync(path))
  return [...new Set(there.flatMap((path) => [path, realpathSync(path)]))]
}
