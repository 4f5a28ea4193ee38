import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export const readerNames = ['xgrammar', 'llguidance'] as const

/** What became of a grammar: why it was refused, or which of the texts match it. */
export type Reading = { readonly refused: string } | { readonly accepted: readonly boolean[] }

export type Reader = {
  read(grammar: string, texts: readonly string[]): Promise<Reading>
  close(): Promise<void>
}

/** One of the libraries that engines keep grammars with, in a Python that has it. */
export function openReader(python: string, name: (typeof readerNames)[number]): Reader {
  const program = join(import.meta.dirname, 'read-grammars.py')
  const env = { ...process.env, PYTHONPATH: join(import.meta.dirname, 'stand-ins'), PYTHONDONTWRITEBYTECODE: '1' }
  const child = spawn(python, [program, name], { stdio: ['pipe', 'pipe', 'inherit'], env })
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    async read(grammar, texts) {
      child.stdin.write(`${JSON.stringify({ grammar, texts })}\n`)
      const { done, value } = await answers.next()
      if (done === true) throw new Error(`The reader ${name} has ended.`)
      return JSON.parse(value) as Reading
    },
    async close() {
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
    },
  }
}
