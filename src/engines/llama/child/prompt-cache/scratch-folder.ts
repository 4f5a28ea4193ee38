import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes a folder for files that live for a moment. The system's folder for such is, to a child, one of its own. */
export function makeScratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'states-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}
