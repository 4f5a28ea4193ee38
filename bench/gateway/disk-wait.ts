import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { measureWait, type Wait } from './wait.ts'

/** About what a commit of one ledger row appends. */
const writeBytes = 8_192

/**
 * What the disk alone takes to keep a small write for good.
 *
 * The ledger's row is on the disk before an answer's last byte leaves, so no end of an answer can come
 * sooner than this after the engine's.
 */
export async function measureDiskWait(folder: string): Promise<Wait> {
  const own = mkdtempSync(join(folder, 'disk-'))
  const file = openSync(join(own, 'file'), 'w')
  const bytes = Buffer.alloc(writeBytes, 1)
  try {
    return await measureWait(() => {
      writeSync(file, bytes)
      fdatasyncSync(file)
    })
  } finally {
    closeSync(file)
    rmSync(own, { recursive: true })
  }
}
