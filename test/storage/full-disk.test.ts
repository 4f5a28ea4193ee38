// A disk that is really full: the data folder is on a small file system of its own, in a mount namespace that
// goes away with the process. Needs root, or a kernel that gives namespaces to everyone; src/db/rows tests the
// same with SQLite's own limit of a file's size, everywhere.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import type { FullDiskReport } from './full-disk-program.ts'

const program = join(import.meta.dirname, 'full-disk-program.ts')
const folder = mkdtempSync(join(tmpdir(), 'odyssey-full-disk-'))
after(() => rmSync(folder, { recursive: true }))

const mount = 'mount -t tmpfs -o size=24m tmpfs "$1"'
const inOwnMount = (script: string, ...args: string[]) =>
  ['-rm', 'sh', '-c', `${mount} && ${script}`, 'sh', folder, ...args] as const

const cannotMount = spawnSync('unshare', inOwnMount('true'), { encoding: 'utf8' })
const canMount = cannotMount.status === 0
const why = canMount ? '' : (cannotMount.error?.message ?? cannotMount.stderr).trim()

if (!canMount && process.getuid?.() === 0) {
  test('root can mount a small disk', () => ok(canMount, `This test needs unshare and mount: ${why}`))
}

test(
  'a full disk refuses what cannot be recorded, loses nothing and is over when there is room',
  {
    skip: canMount ? false : `no small disk can be mounted here (${why}); only the limit of the file's size is tested`,
  },
  async () => {
    const seen = await fillDisk()
    const { refusals, statusesWhileFilling, acknowledged, ledger } = seen
    deepEqual([refusals.chat.status, refusals.messages.status], [503, 529])
    ok(
      statusesWhileFilling.every((status) => [200, 500, 503].includes(status)),
      statusesWhileFilling.join(' '),
    )
    equal(seen.modelsStatusWhenFull, 200)
    deepEqual(seen.readinessWhenFull, { status: 503, ledger: 'down' })
    deepEqual(seen.readinessAtLast, { status: 200, ledger: 'ready' })
    ok(seen.isAliveWhenFull)
    equal(seen.recovered.status, 200)
    equal(seen.exitCode, 0)
    equal(seen.integrity, 'ok')
    ok(acknowledged.length >= 4)
    for (const id of acknowledged) equal(ledger.filter((written) => written === id).length, 1, id)
    equal(new Set(ledger).size, ledger.length)
  },
)

async function fillDisk(): Promise<FullDiskReport> {
  const run = promisify(execFile)
  const args = inOwnMount('TMPDIR="$1" exec "$2" "$3" "$1"', process.execPath, program)
  const { stdout } = await run('unshare', args, { timeout: 500_000 })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as FullDiskReport
}
