// Loaded into a service by NODE_OPTIONS: on SIGUSR2 it writes all that is reachable in its memory, after a collection of
// what is not, to the file that ODYSSEY_TEST_SNAPSHOT names.

import { renameSync } from 'node:fs'
import { writeHeapSnapshot } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

const path = process.env['ODYSSEY_TEST_SNAPSHOT']
if (isMainThread && path !== undefined) {
  process.on('SIGUSR2', () => {
    writeHeapSnapshot(`${path}.unfinished`)
    renameSync(`${path}.unfinished`, path)
  })
}
