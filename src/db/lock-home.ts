import { DatabaseSync } from 'node:sqlite'

/**
 * Makes sure that one service at a time runs on a data folder.
 *
 * The operating system holds the lock, so it is free again however the process
 * ends. Returns the way to give it back, or null when another process has it.
 */
export function lockHome(lockPath: string): (() => void) | null {
  const lock = new DatabaseSync(lockPath)
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch {
    lock.close()
    return null
  }
  return () => lock.close()
}
