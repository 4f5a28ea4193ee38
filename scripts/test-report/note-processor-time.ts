// Loaded before each test file: notes at its end how much processor time it took.

import { noteProcessorSeconds } from './processor-time.ts'

const [, program] = process.argv
// The processes that a test starts may load this too; a test file alone is run by the test runner.
const isTestFile = program !== undefined && /(\.test\.ts|unit-tests[/\\][^/\\]+\.ts)$/.test(program)
if (isTestFile) process.once('exit', () => noteProcessorSeconds(program))
