import { accessSync, chmodSync, constants, mkdirSync } from 'node:fs'
import type { Config } from '../../config/schema.ts'
import { codeOf, messageOf } from '../../lib/message-of.ts'
import { probeFolder } from '../../lib/probe-folder.ts'
import { resolve } from 'node:path'
import { listOpenFiles } from './home-files.ts'

/** Makes the data folder on the first use, which nobody else may read, and keeps its files to their owner where it was made by others. */
export function makeHome(config: Pick<Config, 'home' | 'configPath'>): void {
  const { home } = config
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const reason = messageOf(error)
    throw new Error(`The data folder ${home} cannot be used: ${reason}. Set ODYSSEY_HOME to another one.`, {
      cause: error,
    })
  }
  keepToOwner(config)
}

/** Earlier versions left the mode of some files to the environment. The config file belongs to whoever wrote it, whatever its name. */
function keepToOwner({ home, configPath }: Pick<Config, 'home' | 'configPath'>): void {
  for (const { path, mode } of listOpenFiles(home)) {
    if (path === configPath) continue
    try {
      chmodSync(path, mode & 0o700)
    } catch (error) {
      // Somebody else's file, one that is mounted to be read alone, as secrets are into containers, and one that another
      // process has just removed are not ours to protect.
      if (!['EPERM', 'EROFS', 'ENOENT'].includes(codeOf(error) ?? '')) throw error
    }
  }
}

/**
 * Makes the folder in which prompts are kept over a restart, where one is named.
 *
 * Throws where nothing can be written: the operator wants prompts kept, and
 * would otherwise learn after the next restart that none was.
 */
export function makeCacheFolder(config: CacheFolderSettings): void {
  probeCacheFolder(config, (folder) => mkdirSync(folder, { recursive: true, mode: 0o700 }))
}

/** Throws as `makeCacheFolder` does, and makes nothing. */
export function requireCacheFolder(config: CacheFolderSettings): void {
  probeCacheFolder(config, () => {})
}

type CacheFolderSettings = Pick<Config, 'configFolder' | 'configPath' | 'engine'>

function probeCacheFolder(
  { configFolder, configPath, engine: { cacheFolder } }: CacheFolderSettings,
  prepare: (folder: string) => void,
): void {
  if (cacheFolder === null) return
  const folder = resolve(configFolder, cacheFolder)
  try {
    prepare(folder)
    probeFolder(folder)
  } catch (error) {
    const reason = messageOf(error)
    throw new Error(
      `The folder ${folder} that engine.cacheFolder names cannot be used: ${reason}. Name another one in ${configPath}.`,
      { cause: error },
    )
  }
}
