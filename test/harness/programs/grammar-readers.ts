import { join } from 'node:path'
import { cacheFolder } from './cache.ts'
import { findPython, makePython } from './packages.ts'
import type { Program } from './program.ts'

/** Those of vLLM 0.32.0, and the oldest llguidance that it and SGLang 0.5.23 take: later ones take more. */
const versions = { llguidance: '1.7.6', xgrammar: '0.2.8' } as const
/** What xgrammar takes, but for libraries of gigabytes that are not asked for anything. */
const needed = ['apache-tvm-ffi==0.1.15.post2', 'numpy', 'pydantic', 'typing-extensions']

/** A Python with the libraries that vLLM and SGLang keep grammars with. */
export const grammarReaders: Program = {
  called: 'readers of grammars',
  find: () => pythonIn(findPython(home())),
  async fetch() {
    const alone = Object.entries(versions).map(([name, version]) => `${name}==${version}`)
    return join(await makePython(home(), { wanted: needed, alone }, 'readers of grammars'), 'python')
  },
}

function pythonIn(programs: string | null): string | null {
  return programs === null ? null : join(programs, 'python')
}

function home(): string {
  return join(cacheFolder(), `grammar-readers-${Object.values(versions).join('-')}`)
}
