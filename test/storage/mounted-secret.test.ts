// The secret as container managers give it: a file of its own that is mounted into the data folder, for reading alone and
// with a mode that the service does not choose. Needs root, or a kernel that gives namespaces to everyone.

import { equal, ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { compileCache, productProgram } from '../harness/as-launched.ts'

const home = mkdtempSync(join(tmpdir(), 'odyssey-mounted-'))
after(() => rmSync(home, { recursive: true }))
const secret = join(home, 'secret.key')
writeFileSync(secret, `${'0123456789abcdef'.repeat(4)}\n`, { mode: 0o444 })

const mount = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"'
const inOwnMount = (script: string, ...words: string[]) =>
  spawnSync('unshare', ['-rm', 'sh', '-c', `${mount} && ${script}`, 'sh', secret, ...words], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', ...compileCache, ODYSSEY_HOME: home },
  })
const tried = inOwnMount('true')
const canMount = tried.status === 0
const why = canMount ? '' : (tried.error?.message ?? tried.stderr).trim()

if (!canMount && process.getuid?.() === 0) {
  test('root can mount a file', () => ok(canMount, `This test needs unshare and mount: ${why}`))
}

test(
  'a secret that is mounted for reading alone, and that others may read, keeps nothing from starting',
  { skip: canMount ? false : `no file can be mounted here (${why})` },
  () => {
    const { status, stderr } = inOwnMount('exec "$2" "$3" migrate', process.execPath, productProgram)
    equal(status, 0, stderr)
    equal(statSync(secret).mode & 0o777, 0o444)
  },
)
