import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What the programs of children are made of, and more. */
const sources = fileURLToPath(new URL('..', import.meta.url))
const program = fileURLToPath(new URL('./child/compile.ts', import.meta.url))
/** Compiling takes a second or two of a processor. */
const compilingMsMax = 60_000

let isBegun = false

/**
 * Compiles the programs of engine children for those that begin later, unless that was done before, and waits for nothing.
 *
 * A child cannot keep what it compiles: the service runs what is kept, so whoever takes a child over must not write there.
 * Each child would strip the types from its files and compile them again, a third of the processor time of its start.
 * Does nothing where Node keeps nothing.
 */
export function keepChildrenCompiled(environment: Readonly<Record<string, string>>): void {
  const kept = getCompileCacheDir()
  if (isBegun || kept === undefined) return
  isBegun = true
  const stamp = join(kept, `children-${hashOfSources()}`)
  if (existsSync(stamp)) return
  const compiling = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, stamp], {
    env: environment,
    stdio: 'ignore',
    timeout: compilingMsMax,
    windowsHide: true,
  })
  // Children begin more slowly without it, and that is all.
  compiling.once('error', () => {})
  compiling.unref()
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  const entries = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  for (const file of entries.filter((name) => /\.[jt]s$/.test(name)).toSorted()) {
    hash.update(`${file}\n`).update(readFileSync(join(sources, file)))
  }
  return hash.digest('hex').slice(0, 16)
}
