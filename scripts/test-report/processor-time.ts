import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** The variable that names the file in which test files note their processor time. */
export const processorTimeFile = 'ODYSSEY_TEST_PROCESSOR_TIME'

/** Linux counts processor time in hundredths of a second. */
const ticksPerSecond = 100

/** Notes what this process and the processes it has waited for took of the processors; nothing where Linux does not tell. */
export function noteProcessorSeconds(testFile: string): void {
  const path = process.env[processorTimeFile]
  if (path === undefined || process.platform !== 'linux') return
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  // User and system time, first of the process and then of its children, are the fields 14 to 17 of proc_pid_stat(5).
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  appendFileSync(path, `${relative(process.cwd(), testFile)}\t${ticks / ticksPerSecond}\n`)
}

/** The processor seconds of each test file that has ended. */
export function readProcessorSeconds(): ReadonlyMap<string, number> {
  const path = process.env[processorTimeFile]
  if (path === undefined || !existsSync(path)) return new Map()
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  return new Map(lines.map((line) => [line.split('\t')[0] ?? '', Number(line.split('\t')[1])]))
}
