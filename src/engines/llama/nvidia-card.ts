import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import type { LoadSettings } from './ipc.ts'

/** The part of the file system that is looked at. */
export type Looks = {
  exists(path: string): boolean
  /** The names in a folder; none where there is no such folder. */
  list(path: string): readonly string[]
  /** Whether the engine's build for these cards was installed. */
  hasBuild(): boolean
}

const versionPath = '/proc/driver/nvidia/version'
/** Any of these is there where NVIDIA's driver is. */
const traces = ['/dev/nvidiactl', versionPath, '/dev/dxg']

const looks: Looks = {
  exists: existsSync,
  list(path) {
    try {
      return readdirSync(path)
    } catch {
      return []
    }
  },
  hasBuild() {
    const engine = createRequire(import.meta.resolve('node-llama-cpp'))
    try {
      engine.resolve(`@node-llama-cpp/linux-${process.arch}-cuda/package.json`)
      return true
    } catch (error) {
      // A package that keeps its description to itself is there nevertheless.
      return (error as { code?: unknown }).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED'
    }
  },
}

/** The driver's version, as 580.159; null where it does not say. */
export function nvidiaDriver(read: (path: string) => string = (path) => readFileSync(path, 'utf8')): number | null {
  try {
    const version = /\b(\d{3,}\.\d+)(?:\.\d+)*\b/.exec(read(versionPath))?.[1]
    return version === undefined ? null : Number(version)
  } catch {
    return null
  }
}

/** Whether this machine has a card of NVIDIA's that its driver knows of. */
export function hasNvidiaCard({ exists }: Pick<Looks, 'exists'> = looks): boolean {
  return process.platform === 'linux' && traces.some(exists)
}

const driverLibraries = ['libcuda.so', 'libnvidia-ml.so']
/** They come with CUDA, and neither with the driver nor with the engine's build. */
const cudaLibraries = ['libcudart.so', 'libcublas.so', 'libcublasLt.so']
/** The engine's build is made for the newer one and brings another for the older. */
const cudaVersions = ['13', '12']

/** What a machine with a card lacks for the engine to compute on it: `build`, and libraries by their names. */
export function missingForCuda(
  environment: Readonly<Record<string, string | undefined>>,
  { exists, list, hasBuild }: Looks = looks,
): string[] {
  const folders = libraryFolders(environment, { exists, list })
  const has = (file: string) => folders.some((folder) => exists(join(folder, file)))
  const without = (version: string) => cudaLibraries.filter((name) => !has(`${name}.${version}`))
  const lacksOfCuda = cudaVersions.map((version) => without(version).map((name) => `${name}.${version}`))
  return [
    ...(hasBuild() ? [] : ['build']),
    ...driverLibraries.filter((name) => !has(name) && !has(`${name}.1`)),
    ...(lacksOfCuda.find((lacks) => lacks.length === 0) ?? lacksOfCuda[0] ?? []),
  ]
}

/** Where the library looks for the driver and for CUDA before it opens its build; what only the system's linker finds does not count. */
function libraryFolders(
  { LD_LIBRARY_PATH: named = '', CUDA_PATH: cuda }: Readonly<Record<string, string | undefined>>,
  { exists, list }: Pick<Looks, 'exists' | 'list'>,
): string[] {
  const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
  const ofVersions = list('/usr/local').filter((name) => name.startsWith('cuda-'))
  const installed = [
    ...(cuda ?? '').split(delimiter),
    '/usr/local/cuda',
    ...ofVersions.map((name) => `/usr/local/${name}`),
  ]
  const targets = installed.flatMap((folder) =>
    list(join(folder, 'targets')).map((name) => join(folder, 'targets', name, 'lib')),
  )
  const others = [...named.split(delimiter), cuda ?? '', '/usr/lib', '/usr/lib64', `/usr/lib/${architecture}-linux-gnu`]
  return [...others, ...targets].filter((folder) => folder !== '' && exists(folder))
}

type Chooser = {
  readonly settings: Pick<LoadSettings, 'gpu'>
  readonly hasNvidiaCard?: () => boolean
  readonly onOutput: (line: string) => void
}

/** Whether the children of one file of weights may take a card. */
export class CardChoice {
  readonly #chooser: Chooser
  #isPassedOver = false

  constructor(chooser: Chooser) {
    this.#chooser = chooser
  }

  get gpu(): LoadSettings['gpu'] {
    return this.#isPassedOver ? 'off' : this.#chooser.settings.gpu
  }

  get drivesNvidia(): boolean {
    return this.gpu !== 'off' && (this.#chooser.hasNvidiaCard ?? hasNvidiaCard)()
  }

  /**
   * Has the next child compute without a card, where nobody asked for one by name; returns whether that is what is
   * different with it. To be called when one ended while it was loading.
   *
   * That a build has nothing for a card, or that the card's driver is too old for it, shows only when it first
   * computes, and it then ends its process.
   */
  passOver(): boolean {
    if (this.gpu !== 'auto' || !this.drivesNvidia) return false
    this.#isPassedOver = true
    this.#chooser.onOutput(
      'The engine ended while it was loading onto the graphics card: the processor computes instead.',
    )
    return true
  }
}
