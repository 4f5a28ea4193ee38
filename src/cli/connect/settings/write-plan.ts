import { chmodSync, copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { writeFileDurably } from '../../../lib/write-file-durably.ts'
import type { FilePlan } from './plan-file.ts'

/** Writes a planned file in one step. Returns where the old one is kept, or null when there was none. */
export function writePlan({ path, before, after }: FilePlan, holdsKey: boolean): string | null {
  if (before === null) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileDurably(path, after)
    return null
  }
  const { mode } = statSync(path)
  const backup = freeBackupPath(path)
  copyFileSync(path, backup)
  writeFileDurably(path, after)
  // New files are for their owner alone. One without a key stays as open as it was.
  if (!holdsKey) chmodSync(path, mode)
  return backup
}

/** An earlier backup is the file from before any change of ours, and worth more than the newest one. */
function freeBackupPath(path: string): string {
  let backup = `${path}.bak`
  for (let count = 2; existsSync(backup); count += 1) backup = `${path}.bak${count}`
  return backup
}
