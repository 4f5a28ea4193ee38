import { ensureDefaultHome, type Home } from '../../accounts/organizations.ts'
import type { AccountsParts } from '../../accounts/parts.ts'
import type { Secrets } from '../../config/load-secret.ts'
import type { Config } from '../../config/schema.ts'
import type { Database } from '../../db/database.ts'
import { openDatabase, openServingDatabase } from '../../db/open-database.ts'
import { systemClock } from '../../lib/clock.ts'
import { makeHome } from './make-home.ts'
import { openSecrets } from './open-secrets.ts'

export type Installation = {
  readonly db: Database
  readonly accounts: AccountsParts
  readonly home: Home
  readonly secrets: Secrets
}

/** Opens the data folder, making it on the first use. Several processes may have it open at once. */
export function openInstallation(config: Config): Promise<Installation> {
  return openWith(config, openDatabase)
}

/** As `openInstallation`, for the service, which goes on with other requests while the database is asked. */
export function openServingInstallation(config: Config): Promise<Installation> {
  return openWith(config, openServingDatabase)
}

async function openWith(config: Config, open: typeof openDatabase): Promise<Installation> {
  makeHome(config)
  const db = await open(config)
  const clock = systemClock
  try {
    const secrets = await openSecrets(config.home, { db, clock })
    const home = await ensureDefaultHome({ db, clock })
    return { db, home, secrets, accounts: { db, clock, hashSecret: secrets.keyHashSecret } }
  } catch (error) {
    await db.destroy()
    throw error
  }
}
