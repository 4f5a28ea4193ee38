// A reporter beside the usual one: where the time of a test run goes.

import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

const shown = 15

/** Prints the files that took longest, with the processes they started, once all are done. */
// oxlint-disable-next-line import/no-default-export -- A reporter is what its module exports by default.
export default async function* slowestFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files: { readonly name: string; readonly seconds: number }[] = []
  for await (const { type, data } of events) {
    if (type !== 'test:summary' || data.file === undefined) continue
    files.push({ name: relative(process.cwd(), data.file), seconds: data.duration_ms / 1_000 })
  }
  const slowest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, shown)
  yield `The slowest of ${files.length} files, in seconds:\n`
  for (const { name, seconds } of slowest) yield `${seconds.toFixed(1).padStart(7)}  ${name}\n`
}
