import { accessSync, constants, mkdirSync } from 'node:fs'
import type { Config } from '../../config/schema.ts'
import { messageOf } from '../../lib/message-of.ts'

/** Makes the data folder on the first use, which nobody else may read. */
export function makeHome({ home }: Pick<Config, 'home'>): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 })
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const reason = messageOf(error)
    throw new Error(`The data folder ${home} cannot be used: ${reason}. Set ODYSSEY_HOME to another one.`, {
      cause: error,
    })
  }
}
