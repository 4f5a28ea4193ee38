// All unit tests in one process. They are many and small, and starting a process
// for each would take far longer than the tests themselves.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '..')
for (const file of globSync('src/**/*.test.ts', { cwd: root }).toSorted()) {
  await import(pathToFileURL(join(root, file)).href)
}
