import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const prefix = 'odyssey-scratch-'

/**
 * Makes a folder for what a child keeps for a moment, in memory where the machine offers that.
 *
 * What lies in it are conversations, so each child has one of its own. Whoever makes it removes it; those
 * of services that were killed are removed here.
 */
export function makeScratchFolder(): string {
  const parent = process.platform === 'linux' && existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  for (const name of readdirSync(parent)) if (isAbandoned(name)) remove(join(parent, name))
  return mkdtempSync(join(parent, `${prefix}${process.pid}-`))
}

/** The folder of another user's service stays: that user's next one removes it. */
function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['EACCES', 'EPERM', 'ENOTEMPTY'].includes(code)) throw error
  }
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
