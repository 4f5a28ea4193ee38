import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { nameOf, readLockfile, requiredFolders, root } from './lockfile.ts'
import { makeNotices } from './make-notices.ts'

const lockfile = readLockfile()
const notices = makeNotices(lockfile, root)

test('the notices name every package that runs the service, with its licence', () => {
  for (const folder of requiredFolders(lockfile)) {
    const locked = lockfile.packages.get(folder)
    assert.ok(locked !== undefined)
    assert.ok(notices.includes(`${nameOf(folder, locked)} ${locked.version} (${locked.license})\n`), folder)
  }
})

test('the notices hold the text of a licence as the package has it, and nothing of what only development needs', () => {
  for (const name of ['fastify', 'node-llama-cpp', 'pg']) {
    assert.ok(notices.includes(readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8').trim()), name)
  }
  assert.doesNotMatch(notices, /^(?:oxlint|knip|playwright-core) \d/m)
  assert.equal(notices, makeNotices(lockfile, root))
})
