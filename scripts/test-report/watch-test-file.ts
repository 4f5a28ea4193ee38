// Loaded before each test file: notes at its end how much processor time it took, and sees to it that it has one.

import { noteProcessorSeconds } from './processor-time.ts'

/** No test takes longer: the runner ends one after ten minutes. */
const silentMsMax = 11 * 60_000
const lookMs = 10_000

/**
 * Ends a file of which nothing is reported any more. A test that fails before it has closed what it opened would else keep
 * the file's process for ever, the runner with it, and nobody would hear what failed.
 */
function endWhereSilent(program: string): void {
  let reportedAtMs = performance.now()
  const write = process.stdout.write.bind(process.stdout) as (...given: unknown[]) => boolean
  process.stdout.write = (...given: unknown[]) => {
    reportedAtMs = performance.now()
    return write(...given)
  }
  setInterval(() => {
    if (performance.now() - reportedAtMs < silentMsMax) return
    process.stderr.write(`${program} has reported nothing for eleven minutes, and is ended.\n`)
    process.exit(1)
  }, lookMs).unref()
}

const [, program] = process.argv
// The processes that a test starts may load this too; a test file alone is run by the test runner.
const isTestFile = program !== undefined && /(\.test\.ts|test-groups[/\\][^/\\]+\.ts)$/.test(program)
if (isTestFile) {
  process.once('exit', () => noteProcessorSeconds(program))
  endWhereSilent(program)
}
