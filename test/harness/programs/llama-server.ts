import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { cacheFolder, orMissing } from './cache.ts'
import type { Program } from './program.ts'

const run = promisify(execFile)

const packages = fileURLToPath(new URL('../../../node_modules/', import.meta.url))
const bundlePath = join(packages, 'node-llama-cpp/llama/gitRelease.bundle')

/**
 * llama.cpp's own server, of exactly the library's version: `ODYSSEY_LLAMA_SERVER`, or one built before.
 *
 * It is built from the source that the engine's package brings, which takes some ten minutes on two processors.
 */
export const llamaServer: Program = {
  called: 'llama-server',
  find() {
    const path = process.env['ODYSSEY_LLAMA_SERVER'] ?? builtPath()
    return existsSync(path) ? path : null
  },
  async fetch() {
    const [source, build] = [join(keptIn(), 'source'), join(keptIn(), 'build')]
    const missing = 'llama-server: it takes git, cmake and a C++ compiler to build.'
    if (!existsSync(source)) await orMissing(missing, run('git', ['clone', '--quiet', bundlePath, source]))
    const configure = ['-S', source, '-B', build, ...options.map((option) => `-D${option}`)]
    await orMissing(missing, run('cmake', configure))
    const compile = ['--build', build, '--target', 'llama-server', '--parallel', String(availableParallelism())]
    await orMissing(missing, run('cmake', compile, { maxBuffer: 2 ** 28 }))
    return builtPath()
  },
}

/** For any processor: what is cached may be run by another than built it, one without some of its instructions. */
const options = [
  'CMAKE_BUILD_TYPE=Release',
  'GGML_NATIVE=OFF',
  'LLAMA_OPENSSL=OFF',
  'LLAMA_BUILD_UI=OFF',
  'LLAMA_USE_PREBUILT_UI=OFF',
]

function builtPath(): string {
  return join(keptIn(), 'build/bin/llama-server')
}

/** Another version of the library, or another kind of build, has a folder of its own. */
function keptIn(): string {
  const { tag } = JSON.parse(readFileSync(join(bundlePath, '../llama.cpp.info.json'), 'utf8')) as { tag: string }
  return join(cacheFolder(), `llama-server-${tag}-portable`)
}

/**
 * The reference on the very libraries that the service computes with, in a folder that is made anew each time.
 *
 * Compiled by itself it has other kernels, whose sums differ in their last bits; each rounding of activations to
 * eight bits enlarges that, up to 0.2 in a log-probability of Gemma 3 270M.
 */
export function onLibraryKernels(serverPath: string): string {
  const built = dirname(serverPath)
  const library = join(packages, `@node-llama-cpp/linux-${process.arch}/bins/linux-${process.arch}`)
  const folder = join(dirname(built), 'on-library-kernels')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  // The program looks for the kernels beside itself, so it is copied; a link would lead back to where it was built.
  copyFileSync(serverPath, join(folder, basename(serverPath)))
  const isOwn = (file: string) => file.includes('.so') && !file.includes('ggml-cpu') && !existsSync(join(library, file))
  const own = readdirSync(built).filter(isOwn)
  const shared = readdirSync(library).filter((file) => file.includes('.so'))
  for (const file of shared) symlinkSync(join(library, file), join(folder, file))
  for (const file of own) symlinkSync(libraryOf(file, shared, library) ?? join(built, file), join(folder, file))
  return join(folder, basename(serverPath))
}

/** The library's file for a name such as `libllama.so.0`: the library calls it `libllama.v0.5.0.so`. */
function libraryOf(file: string, shared: readonly string[], library: string): string | null {
  const [stem = file] = file.split('.so')
  const found = shared.find((name) => name === `${stem}.so` || name.startsWith(`${stem}.v`))
  return found === undefined ? null : join(library, found)
}
