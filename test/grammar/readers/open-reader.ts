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
  const { ask, close } = openProgram<Reading>(python, join(import.meta.dirname, 'read-grammars.py'), name)
  return { read: (grammar, texts) => ask({ grammar, texts }), close }
}

/** A program with one of the libraries, which answers each line of JSON with one. */
export function openProgram<Answer>(python: string, program: string, library: (typeof readerNames)[number]) {
  const env = { ...process.env, PYTHONPATH: join(import.meta.dirname, 'stand-ins'), PYTHONDONTWRITEBYTECODE: '1' }
  const child = spawn(python, [program, library], { stdio: ['pipe', 'pipe', 'inherit'], env })
  const answers = createInterface(child.stdout)[Symbol.asyncIterator]()
  const tell = (what: object) => void child.stdin.write(`${JSON.stringify(what)}\n`)
  return {
    /** Tells what is not answered. */
    tell,
    async ask(question: object): Promise<Answer> {
      tell(question)
      const { done, value } = await answers.next()
      if (done === true) throw new Error(`The reader ${library} has ended.`)
      return JSON.parse(value) as Answer
    },
    async close(): Promise<void> {
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
    },
  }
}
