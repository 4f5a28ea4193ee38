import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'odyssey-states-'

/**
 * Makes a folder for files that live for a moment, in memory where the machine offers that.
 *
 * It goes when this process ends. A process that was killed leaves its folder behind,
 * so those of processes that are gone are removed first.
 */
export function makeScratchFolder(): string {
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  for (const name of readdirSync(parent))
    if (isAbandoned(name)) rmSync(join(parent, name), { recursive: true, force: true })
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function isAbandoned(name: string): boolean {
  const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length).split('-')[0]) : Number.NaN
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
