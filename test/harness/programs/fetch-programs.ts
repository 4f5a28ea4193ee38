import { Missing } from './cache.ts'
import { helm, kubernetesValidate, promtool } from './deployment.ts'
import { grammarReaders } from './grammar-readers.ts'
import { llamaServer } from './llama-server.ts'

const programs = [promtool, kubernetesValidate, grammarReaders, helm, llamaServer]

/**
 * Brings the programs that are not there yet, or those alone whose names contain one of the words. False where this machine
 * cannot have one, of which a line says why.
 */
export async function fetchPrograms(words: readonly string[], log: (line: string) => void): Promise<boolean> {
  const isWanted = (called: string) => words.length === 0 || words.some((word) => called.toLowerCase().includes(word))
  let hasAll = true
  for (const program of programs.filter(({ called }) => isWanted(called))) {
    const startedMs = performance.now()
    const found = program.find()
    try {
      const path = found ?? (await program.fetch())
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
      log(`✔ ${program.called}: ${path}${found === null ? ` (brought in ${seconds} s)` : ''}`)
    } catch (error) {
      if (!(error instanceof Missing)) throw error
      log(`✖ ${error.message} ${describe(error.cause)}`.trimEnd())
      hasAll = false
    }
  }
  return hasAll
}

/** The last lines of what a program has said that did not do its work. */
function describe(cause: unknown): string {
  const { stderr } = (cause ?? {}) as { readonly stderr?: unknown }
  return typeof stderr === 'string' ? `\n${stderr.trimEnd().split('\n').slice(-5).join('\n')}` : ''
}
