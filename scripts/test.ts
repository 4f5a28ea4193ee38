// npm test                the check, then every test
// npm test -- ledger sse  only the test files whose path contains one of the words

import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { globSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const words = process.argv.slice(2)

/** The first test that needs PostgreSQL starts it for all of them; it ends by itself once this process is gone. */
const onePostgres = {
  ODYSSEY_TEST_POSTGRES: join(tmpdir(), `odyssey-test-postgres-${randomUUID()}`),
  ODYSSEY_TEST_POSTGRES_OWNER: String(process.pid),
}

process.exitCode = words.length === 0 ? runAll() : runMatching(words)

function runAll(): number {
  const checked = runNode(['scripts/check.ts'])
  const others = globSync('{test,scripts,bin,starter}/**/*.test.ts', { cwd: root })
  const tested = runTests(['scripts/unit-tests.ts', ...others.toSorted()])
  if (checked !== 0) console.log('The check before the tests failed; its output stands above theirs.')
  return checked === 0 ? tested : 1
}

function runMatching(wanted: readonly string[]): number {
  const files = globSync('{src,test,scripts,bin,starter}/**/*.test.ts', { cwd: root })
  const matching = files.filter((file) => wanted.some((word) => file.includes(word)))
  if (matching.length > 0) return runTests(matching.toSorted())
  console.error(`No test file has a path that contains ${wanted.join(' or ')}.`)
  return 1
}

/** Two files at a time, each in its own process; a test that hangs fails after ten minutes. */
function runTests(files: readonly string[]): number {
  const reporters = ['spec', join(root, 'scripts/slowest-files.ts')].flatMap((reporter) => [
    `--test-reporter=${reporter}`,
    '--test-reporter-destination=stdout',
  ])
  return runNode(['--test', ...reporters, '--test-concurrency=2', '--test-timeout=600000', ...files])
}

function runNode(args: readonly string[]): number {
  return (
    spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...onePostgres } })
      .status ?? 1
  )
}
