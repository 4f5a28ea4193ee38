// Everything that can be said about the sources without running the product.

import { execFile } from 'node:child_process'
import { availableParallelism } from 'node:os'

type Check = { readonly name: string; readonly args: readonly string[] }

// The longest first, so that none is left to run alone at the end.
const checks: readonly Check[] = [
  // One program reads all types for both; the compiler alone takes as long again.
  {
    name: 'types and lint',
    args: ['node_modules/oxlint/bin/oxlint', '--type-aware', '--type-check', '--deny-warnings'],
  },
  { name: 'unused', args: ['node_modules/knip/bin/knip.js', '--no-progress'] },
  { name: 'boundaries', args: ['scripts/check-boundaries.ts'] },
  { name: 'format', args: ['node_modules/oxfmt/bin/oxfmt', '--check'] },
]

/** More at a time only makes each slower: most of them use several threads. */
const checksAtOnce = Math.min(2, availableParallelism())

// The dashboard's types are made of the routes, and several of the checks read them.
await import('./make-api-types.ts')

const waiting = checks.values()
await Promise.all(Array.from({ length: checksAtOnce }, runWaiting))

async function runWaiting(): Promise<void> {
  for (const check of waiting) {
    const startedMs = performance.now()
    const failure = await run(check)
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
    console.log(`${failure === null ? '✔' : '✖'} ${check.name} (${seconds} s)`)
    if (failure === null) continue
    console.log(failure)
    process.exitCode = 1
  }
}

/** What a failing check has said; null when it passed. */
function run({ args }: Check): Promise<string | null> {
  return new Promise((resolve) => {
    const settings = { cwd: import.meta.dirname + '/..', maxBuffer: 64 * 1024 * 1024 }
    execFile(process.execPath, args, settings, (error, output, errors) => {
      resolve(error === null ? null : [output, errors].join('').trimEnd() || error.message)
    })
  })
}
