import { ok } from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { makeScratchFolder } from './scratch-folders.ts'

/** A process that has ended, as a service that was killed. */
const endedPid = spawnSync(process.execPath, ['--version']).pid
const nobody = 65_534
const isRoot = process.geteuid?.() === 0

function asAnotherUser<Result>(work: () => Result): Result {
  if (!isRoot) return work()
  process.seteuid?.(nobody)
  try {
    return work()
  } finally {
    process.seteuid?.(0)
  }
}

test('what a killed service has left is removed', () => {
  const first = makeScratchFolder()
  const left = join(dirname(first), basename(first).replace(String(process.pid), String(endedPid)))
  mkdirSync(left)
  writeFileSync(join(left, 'text'), 'a conversation')
  const next = makeScratchFolder()
  ok(!existsSync(left))
  for (const folder of [first, next]) rmSync(folder, { recursive: true })
})

test(
  'what another user’s killed service has left stays, and keeps nobody from starting',
  { skip: process.platform === 'win32' },
  () => {
    const parent = process.platform === 'linux' && existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
    const left = join(parent, `odyssey-scratch-${endedPid}-others`)
    const locked = join(left, 'locked')
    mkdirSync(locked, { recursive: true, mode: 0o700 })
    writeFileSync(join(locked, 'text'), 'a conversation')
    chmodSync(locked, 0)
    const made = asAnotherUser(makeScratchFolder)
    ok(existsSync(made))
    ok(existsSync(left))
    chmodSync(locked, 0o700)
    for (const folder of [left, made]) rmSync(folder, { recursive: true })
  },
)
