import { DatabaseSync } from 'node:sqlite'
import { messageOf } from '../lib/message-of.ts'
import { isBusy, isDamage } from './sqlite-errors.ts'

/**
 * Makes sure that one service at a time runs on a data folder.
 *
 * The operating system holds the lock, so it is free again however the process
 * ends. Returns the way to give it back, or null when another process has it.
 * Throws where it cannot be said whether one has.
 */
export function lockHome(lockPath: string): (() => void) | null {
  const lock = new DatabaseSync(lockPath)
  try {
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    if (isBusy(error)) return null
    const remedy = isDamage(error) ? ' Delete it: nothing is kept in it.' : ''
    throw new Error(`${lockPath} cannot be locked: ${messageOf(error)}.${remedy}`, { cause: error })
  }
  return () => lock.close()
}
