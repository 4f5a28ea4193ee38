// node bin/odyssey.cjs --run scripts/test-postgres.ts                    a throw-away PostgreSQL until Ctrl-C; prints its address
// node bin/odyssey.cjs --run scripts/test-postgres.ts --set NAME=VALUE   another setting than tests have; may be given several times
// node bin/odyssey.cjs --run scripts/test-postgres.ts --owner PID --address FILE
//
// The last form serves tests: the address is written to a file, and the server is gone, with its
// data and that file's folder, as soon as the process that owns it is, however that one ended.

import { existsSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '../src/lib/message-of.ts'
import { startPostgresServer } from './postgres/start-server.ts'

/** A run of all tests needs at most half of it. */
const bytesMin = 4 * 1_024 ** 3

const type = 'string'
const { values } = parseArgs({ options: { owner: { type }, address: { type }, set: { type, multiple: true } } })
const { owner, address: addressPath } = values

try {
  const server = await startPostgresServer(values.set, owner === undefined ? tmpdir() : folderInMemory())
  publish(server.url)
  const stop = () =>
    void server.stop().then(() => {
      if (addressPath !== undefined) rmSync(dirname(addressPath), { recursive: true, force: true })
      process.exit()
    })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop)
  const timer = setInterval(() => {
    if (owner === undefined || isRunning(Number(owner))) return
    clearInterval(timer)
    stop()
  }, 300)
} catch (error) {
  // Whoever waits for the address reads instead why there is none.
  publish(`failed: ${messageOf(error)}`)
  process.exitCode = 1
}

/**
 * Tests make a database for nearly each of them, which is a thousand small files each time: on a disk that others use too it
 * takes ten times as long. Where little memory is free it is the disk nevertheless.
 */
function folderInMemory(): string {
  const memory = '/dev/shm'
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return Math.min(bavail * bsize, process.availableMemory()) > bytesMin ? memory : tmpdir()
}

function publish(text: string): void {
  console.log(text)
  if (addressPath === undefined) return
  writeFileSync(`${addressPath}.new`, text)
  renameSync(`${addressPath}.new`, addressPath)
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
