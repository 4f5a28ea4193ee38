import { randomBytes } from 'node:crypto'
import { lstatSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Throws where nothing can be written into a folder, or where it could not be made. Leaves nothing behind.
 *
 * Asking whether it may be written is not enough: a disk may be mounted for reading alone, and the superuser may
 * write everywhere. Of a folder that is not there yet, the nearest one above that is there is tried.
 */
export function probeFolder(path: string): void {
  let nearest = path
  while (lstatSync(nearest, { throwIfNoEntry: false }) === undefined) nearest = dirname(nearest)
  const probe = join(nearest, `.probe-${randomBytes(6).toString('hex')}`)
  writeFileSync(probe, '', { flag: 'wx' })
  rmSync(probe)
}
