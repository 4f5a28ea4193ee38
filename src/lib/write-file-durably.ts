import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Replaces a file in one step that outlasts a power cut.
 *
 * A reader sees the old text or the new one, whole. When this returns, the new
 * one is on the disk.
 */
export function writeFileDurably(path: string, text: string): void {
  const newPath = `${path}.new`
  try {
    writeAndSync(newPath, text, 'w')
    renameSync(newPath, path)
  } catch (error) {
    rmSync(newPath, { force: true })
    throw error
  }
  syncFolder(dirname(path))
}

/** Writes a file for its owner alone, onto the disk; `wx` takes none that is there already. */
export function writeAndSync(path: string, text: string, flag: 'w' | 'wx'): void {
  const file = openSync(path, flag, 0o600)
  try {
    writeSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Makes names in a folder outlast a power cut; the files' content is another matter. */
export function syncFolder(path: string): void {
  // Windows cannot open a folder, and writes names down by itself.
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
