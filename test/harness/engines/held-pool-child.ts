// A child that says how many threads of its pool take part in what it asks for.

import { read, stat, writeSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { holdPoolThreads } from '../../../src/engines/llama/child/threads/pool-threads.ts'
import { openPipe } from '../../../src/engines/llama/confinement/unnamed-files.ts'

const pool = holdPoolThreads()
const pipe = openPipe()
/** Long enough for a thread that is free to have answered. */
const waitedMs = 300

/** Whether a file is found while as many threads wait as are asked for here. */
async function findsFileBesideWaiting(waiting: number): Promise<boolean> {
  const over = Array.from(
    { length: waiting },
    () => new Promise<void>((resolve) => read(pipe.reads, new Uint8Array(1), 0, 1, null, () => resolve())),
  )
  const found = new Promise<true>((resolve) => stat('.', () => resolve(true)))
  const isFound = await Promise.race([found, setTimeout(waitedMs, false)])
  if (waiting > 0) writeSync(pipe.writes, new Uint8Array(waiting))
  await Promise.all([...over, found])
  return isFound
}

/** One more thread is there than those beside which a file is found. */
async function countThreads(): Promise<number> {
  for (let waiting = 0; ; waiting++) if (!(await findsFileBesideWaiting(waiting))) return waiting
}

process.on('message', (threads: number | 'end') => {
  if (threads === 'end') process.exit(0)
  pool.open(threads)
  void countThreads().then((counted) => process.send?.(counted))
})
process.send?.('begun')
