import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { messageOf } from '../../lib/message-of.ts'

/**
 * Makes the folder in which prompts are kept over a restart, where one is named.
 *
 * Throws where nothing can be written: the operator wants prompts kept, and
 * would otherwise learn after the next restart that none was.
 */
export function makeCacheFolder({ configFolder, configPath, engine: { cacheFolder } }: Config): void {
  if (cacheFolder === null) return
  const folder = resolve(configFolder, cacheFolder)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // Asking whether it may be written is not enough: a disk may be mounted for reading alone.
    const probe = join(folder, `.probe-${process.pid}`)
    writeFileSync(probe, '')
    rmSync(probe)
  } catch (error) {
    const reason = messageOf(error)
    throw new Error(
      `The folder ${folder} that engine.cacheFolder names cannot be used: ${reason}. Name another one in ${configPath}.`,
      { cause: error },
    )
  }
}
