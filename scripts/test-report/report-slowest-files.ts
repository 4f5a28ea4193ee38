// A reporter beside the usual one: where the time of a test run goes.

import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { readProcessorSeconds } from './processor-time.ts'

const shown = 20

/** Prints the files that took longest, with the processor time of each and of the processes it started, once all are done. */
export async function* reportSlowestFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: { readonly name: string; readonly seconds: number }[] = []
  for await (const { type, data } of events) {
    if (type !== 'test:summary' || data.file === undefined) continue
    files.push({ name: relative(process.cwd(), data.file), seconds: data.duration_ms / 1_000 })
  }
  const processorSeconds = readProcessorSeconds()
  const slowest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, shown)
  yield `${files.length} files took ${sumOf(files.map(({ seconds }) => seconds))} seconds together, and ${sumOf([...processorSeconds.values()])} of the processors.\n`
  yield 'The slowest, in seconds, and what they took of the processors:\n'
  for (const { name, seconds } of slowest) {
    yield `${seconds.toFixed(1).padStart(7)} ${(processorSeconds.get(name)?.toFixed(1) ?? '–').padStart(7)}  ${name}\n`
  }
}

function sumOf(seconds: readonly number[]): string {
  return seconds.reduce((sum, each) => sum + each, 0).toFixed(0)
}
