import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from './cache.ts'
import { makePython } from './packages.ts'
import type { Program } from './program.ts'

const versions = { llguidance: '1.9.1', xgrammar: '0.2.9' } as const
/** What xgrammar takes, but for libraries of gigabytes that are not asked for anything. */
const needed = ['apache-tvm-ffi==0.1.15.post2', 'numpy', 'pydantic', 'typing-extensions']

/** A Python with the libraries that vLLM and SGLang keep grammars with. */
export const grammarReaders: Program = {
  called: 'readers of grammars',
  find: () => (existsSync(done()) ? python() : null),
  async fetch() {
    const alone = Object.entries(versions).map(([name, version]) => `${name}==${version}`)
    await makePython(home(), { wanted: needed, alone }, 'readers of grammars')
    writeFileSync(done(), '')
    return python()
  },
}

function python(): string {
  return join(home(), 'bin/python')
}

/** There once all is installed. */
function done(): string {
  return join(home(), 'complete')
}

function home(): string {
  return join(cacheFolder(), `grammar-readers-${Object.values(versions).join('-')}`)
}
