import { ensureDefaultHome, type Home } from '../accounts/organizations.ts'
import type { AccountsParts } from '../accounts/parts.ts'
import { loadSecrets, type Secrets } from '../config/load-secret.ts'
import type { Config } from '../config/schema.ts'
import type { Database } from '../db/database.ts'
import { openDatabase, openServingDatabase } from '../db/open-database.ts'
import { systemClock } from '../lib/clock.ts'
import { makeHome } from './make-home.ts'

export type Accounts = {
  readonly db: Database
  readonly apiKeys: AccountsParts
  readonly home: Home
  readonly secrets: Secrets
}

/** Opens the data folder, making it on the first use. Several processes may have it open at once. */
export function openAccounts(config: Config): Promise<Accounts> {
  return openWith(config, openDatabase)
}

/** As `openAccounts`, for the service, which goes on with other requests while the database is asked. */
export function openServingAccounts(config: Config): Promise<Accounts> {
  return openWith(config, openServingDatabase)
}

async function openWith(config: Config, open: typeof openDatabase): Promise<Accounts> {
  makeHome(config)
  const secrets = loadSecrets(config.home)
  const db = await open(config)
  const clock = systemClock
  const home = await ensureDefaultHome({ db, clock })
  return { db, home, secrets, apiKeys: { db, clock, hashSecret: secrets.keyHashSecret } }
}
