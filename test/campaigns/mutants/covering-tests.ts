// Which test files run which places of the program.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runCases } from '../campaign.ts'
import { runTestFile } from './run-test-file.ts'

type Range = { readonly startOffset: number; readonly endOffset: number; readonly count: number }
type Report = {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly Range[] }[]
  }[]
}

export type TestFile = {
  readonly path: string
  readonly ms: number
  runs(file: string, offset: number): boolean
}

type Measuring = { readonly paths: readonly string[]; readonly files: readonly string[]; log(line: string): void }

/** Runs each file once; one that fails by itself says nothing of mutants, and is left out. The shortest come first. */
export async function measureTests({ paths, files, log }: Measuring): Promise<readonly TestFile[]> {
  const measured: TestFile[] = []
  await runCases(paths.length, 2, async (number) => {
    const path = paths[number] ?? ''
    const folder = mkdtempSync(join(tmpdir(), 'odyssey-coverage-'))
    const startedMs = performance.now()
    const outcome = await runTestFile(path, { environment: { NODE_V8_COVERAGE: folder } })
    if (outcome !== 'passed') return log(`${path} ${outcome} without any change, and is left out`)
    const ms = performance.now() - startedMs
    const ranges = readRanges(folder, files)
    rmSync(folder, { recursive: true })
    measured.push({ path, ms, runs: (file, offset) => isRun(ranges.get(file) ?? [], offset) })
  })
  return measured.toSorted((one, other) => one.ms - other.ms)
}

function readRanges(folder: string, files: readonly string[]): ReadonlyMap<string, readonly Range[]> {
  const fileOf = new Map(files.map((file) => [pathToFileURL(file).href, file] as const))
  const ranges = new Map<string, Range[]>()
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Report
    for (const { url, functions } of result) {
      const file = fileOf.get(url)
      if (file === undefined) continue
      const known = ranges.get(file) ?? []
      known.push(...functions.flatMap((one) => one.ranges))
      ranges.set(file, known)
    }
  }
  return ranges
}

/** The narrowest range around a place says how often it was run. */
function isRun(ranges: readonly Range[], offset: number): boolean {
  let narrowest: Range | null = null
  for (const range of ranges) {
    if (range.startOffset > offset || range.endOffset <= offset) continue
    const width = range.endOffset - range.startOffset
    if (narrowest === null || width <= narrowest.endOffset - narrowest.startOffset) narrowest = range
  }
  return narrowest !== null && narrowest.count > 0
}
