// Files under which a backup is written until it is whole. A process that is killed leaves them behind, and the next backup
// into the folder takes them away.

import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { lockHome } from '../lock-home.ts'
import { removeFile } from './portable-file.ts'

/** A backup's own file, and what is beside it; whatever else lies in the folder belongs to whoever put it there. */
const pattern = /^(.+\.unfinished-[0-9a-f]{12})(?:-wal|-shm|-journal|\.lock(?:-journal)?)?$/

type Claimed = { readonly unfinished: string; release(): void }

/**
 * A name for a backup that is being written to a path, of which two at once each have their own.
 *
 * The operating system holds a lock beside it for as long as the process lives, by which others tell it from what was
 * left behind.
 */
export function claimUnfinished(path: string, makeEmpty: (name: string) => void): Claimed {
  for (;;) {
    const unfinished = `${path}.unfinished-${randomBytes(6).toString('hex')}`
    makeEmpty(unfinished)
    const unlock = lock(unfinished)
    // Another backup that looked between the two lines above took it for one that was left behind.
    if (unlock !== null && existsSync(unfinished)) return { unfinished, release: unlock }
    unlock?.()
  }
}

/** Removes what backups that were killed have left in a folder. */
export function removeLeftovers(folder: string): void {
  const names = new Set(readdirSync(folder).flatMap((name) => pattern.exec(name)?.[1] ?? []))
  for (const name of names) {
    try {
      removeLeftover(join(folder, name))
    } catch {
      // What another user has left there is that user's to remove; this backup is none the worse for it.
    }
  }
}

function removeLeftover(unfinished: string): void {
  const unlock = lock(unfinished)
  if (unlock === null) return
  try {
    removeFile(unfinished)
  } finally {
    unlock()
  }
}

/** Null where a process has the lock. */
function lock(unfinished: string): (() => void) | null {
  const path = `${unfinished}.lock`
  const unlock = lockHome(path)
  if (unlock === null) return null
  return () => {
    // Not every system removes a file that is open.
    unlock()
    removeFile(path)
  }
}
