// npm test                the check, then every test but those of test/dashboard/screens, which "npm run screens -- tests" runs
// npm test -- ledger sse  only the test files whose path contains one of the words

import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { globSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { fetchPrograms } from '../test/harness/programs/fetch-programs.ts'
import { filesOf, groupPrograms } from './test-groups/groups.ts'
import { describeFailure, withoutKnownGaps } from './test-report/failures.ts'
import { processorTimeFile } from './test-report/processor-time.ts'
import { reportSlowestFiles } from './test-report/report-slowest-files.ts'

const root = join(import.meta.dirname, '..')
const words = process.argv.slice(2)
const times = join(tmpdir(), `odyssey-test-times-${randomUUID()}`)

// The first test that needs PostgreSQL starts it for all of them; it ends by itself once this process is gone.
process.env['ODYSSEY_TEST_POSTGRES'] = join(tmpdir(), `odyssey-test-postgres-${randomUUID()}`)
process.env['ODYSSEY_TEST_POSTGRES_OWNER'] = String(process.pid)
process.env[processorTimeFile] = times

/** One more than there are processors: files wait for a browser, a clock or a database half of their time. */
const filesAtOnce = Math.min(availableParallelism() + 1, 8)

/**
 * The files that take longest, the longest first; the report at the end of a run shows which belong here.
 *
 * They begin before all others, so that no process is left alone with one of them at the end.
 */
const longestFirst = [
  'scripts/test-groups/units-with-database.ts',
  'test/campaigns/gateways/gateways.test.ts',
  'scripts/test-groups/management-api.ts',
  'test/dashboard/work.test.ts',
  'test/docs/snippets.test.ts',
  'test/campaigns/short/requests.test.ts',
  'test/campaigns/short/departures.test.ts',
  'test/campaigns/short/kills.test.ts',
  'test/campaigns/short/real-weights.test.ts',
  'test/engines/speculation.test.ts',
  'test/engines/prompts/disk-cache.test.ts',
  'test/http/streams.test.ts',
  'test/engines/pools/faults.test.ts',
  'scripts/test-groups/units-without-database.ts',
]

if (words.length === 0) await runAll()
else runMatching(words)

async function runAll(): Promise<void> {
  // It leaves a processor idle for part of its time, so the tests begin beside it.
  const checking = check()
  // A test whose program is missing for all that fails, and says so.
  if (process.env['CI'] !== undefined) await fetchPrograms([], console.log)
  // What is released is what is tested; a single file is tested on the sources, whose lines its stacks then name.
  const { bundleInClone } = await import('./package/bundle-in-clone.ts')
  process.env['ODYSSEY_TEST_PROGRAM'] = join(await bundleInClone(root, 'program'), 'cli/main.js')
  const grouped = new Set([...groupPrograms.values()].flatMap(filesOf))
  const all = globSync('{test,scripts,bin,starter}/**/*.test.ts', { cwd: root, exclude: ['test/dashboard/screens/**'] })
  const others = all.filter((file) => !grouped.has(file))
  runTests([...new Set([...longestFirst, ...groupPrograms.keys(), ...others.toSorted()])])
  const { hasPassed, said } = await checking
  console.log(said)
  if (hasPassed) return
  process.exitCode = 1
  // Thousands of lines of tests may stand between, so what it said is said again.
  process.once('exit', () => console.log(`${said}\nThe check beside the tests failed.`))
}

function check(): Promise<{ readonly hasPassed: boolean; readonly said: string }> {
  const settings = { cwd: root, maxBuffer: 64 * 1024 * 1024 }
  return new Promise((resolve) => {
    execFile(process.execPath, ['scripts/check.ts'], settings, (error, output, errors) => {
      resolve({ hasPassed: error === null, said: `${output}${errors}`.trimEnd() })
    })
  })
}

function runMatching(wanted: readonly string[]): void {
  const files = globSync('{src,test,scripts,bin,starter}/**/*.test.ts', { cwd: root })
  const matching = files.filter((file) => wanted.some((word) => file.includes(word)))
  if (matching.length > 0) return runTests(matching.toSorted())
  console.error(`No test file has a path that contains ${wanted.join(' or ')}.`)
  process.exitCode = 1
}

/**
 * Runs files side by side, each in its own process and begun in the order given, which `node --test` would sort.
 *
 * A test that hangs fails after ten minutes.
 */
function runTests(files: readonly string[]): void {
  const events = run({
    cwd: root,
    files: files.map((file) => join(root, file)),
    concurrency: filesAtOnce,
    timeout: 600_000,
    execArgv: [`--import=${pathToFileURL(join(root, 'scripts/test-report/watch-test-file.ts')).href}`],
  })
  const failures: string[] = []
  const note = (failure: string | null) => {
    if (failure === null) return
    failures.push(failure)
    process.exitCode = 1
  }
  events.on('test:fail', (data) => note(describeFailure({ type: 'test:fail', data })))
  events.on('test:diagnostic', (data) => note(describeFailure({ type: 'test:diagnostic', data })))
  events.compose(withoutKnownGaps).compose(new spec()).pipe(process.stdout)
  events.compose(reportSlowestFiles).pipe(process.stdout)
  process.once('exit', () => {
    rmSync(times, { force: true })
    // They are the last lines, because those are what a log that was cut still shows.
    if (failures.length > 0) console.log(`Failed: ${failures.length}\n${failures.join('\n')}`)
  })
}
