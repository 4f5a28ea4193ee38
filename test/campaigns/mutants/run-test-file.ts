import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Mutant } from './find-mutants.ts'

export type Outcome = 'passed' | 'failed' | 'hung'

type Options = {
  readonly environment?: Readonly<Record<string, string>>
  readonly mutant?: Mutant
  readonly waitMs?: number
}

const hook = pathToFileURL(join(import.meta.dirname, 'replace-source.ts')).href

/** Runs the tests of a file on SQLite, until the first one fails. */
export function runTestFile(path: string, { environment = {}, mutant, waitMs = 600_000 }: Options): Promise<Outcome> {
  const hooks = mutant === undefined ? [] : ['--import', hook]
  const skipped = ['--test-reporter=tap', '--test-skip-pattern=on PostgreSQL']
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...hooks, ...skipped, path], {
    env: { ...process.env, ...environment, ...(mutant && { ODYSSEY_MUTANT: JSON.stringify(mutant) }) },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let isFailed = false
  let isHung = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (!/^ *not ok /m.test(text)) return
    isFailed = true
    child.kill('SIGKILL')
  })
  const timer = setTimeout(() => {
    isHung = true
    child.kill('SIGKILL')
  }, waitMs)
  return new Promise((resolve) => {
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve(isHung ? 'hung' : isFailed || code !== 0 ? 'failed' : 'passed')
    })
  })
}
