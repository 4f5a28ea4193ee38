import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { ensureDefaultHome, type Home } from '../../accounts/organizations.ts'
import type { AccountsParts } from '../../accounts/parts.ts'
import { requireCurrency } from '../../billing/invoices/require-currency.ts'
import { listSettings } from '../../config/load.ts'
import { secretPathIn, type Secrets } from '../../config/load-secret.ts'
import type { Config } from '../../config/schema.ts'
import { change, installationChain } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import { sqlitePath } from '../../db/database-location.ts'
import { isClaimed } from '../../db/folder-owner.ts'
import { openDatabase, openServingDatabase } from '../../db/open-database.ts'
import { systemClock } from '../../lib/clock.ts'
import { parseJson } from '../../lib/json/parse-json.ts'
import { writeFileDurably } from '../../lib/write-file-durably.ts'
import { makeHome } from './make-home.ts'
import { openSecrets } from './open-secrets.ts'

export type Installation = {
  readonly db: Database
  readonly accounts: AccountsParts
  readonly home: Home
  readonly secrets: Secrets
}

/** Opens the data folder, making what is not there yet. Several processes may have it open at once. */
export function openInstallation(config: Config): Promise<Installation> {
  return openWith(config, openDatabase)
}

/**
 * As `openInstallation`, for a command on what is there already.
 *
 * Throws where the data folder holds none. A command that was started without the service's ODYSSEY_HOME would
 * otherwise make one in the working folder, list nothing, and make keys that work nowhere.
 */
export async function openExistingInstallation(config: Config): Promise<Installation> {
  if (!isInstalled(config)) {
    throw new Error(`There is no Odyssey in ${config.home}. Set ODYSSEY_HOME to its data folder, or start it once.`)
  }
  return openInstallation(config)
}

/** With PostgreSQL the folder is told by the secret, which a further gateway has before its first start. */
function isInstalled(config: Config): boolean {
  const { home, databaseUrl } = config
  return isClaimed(config) || existsSync(databaseUrl === null ? sqlitePath(config) : secretPathIn(home))
}

/** As `openInstallation`, for the service, which goes on with other requests while the database is asked. */
export async function openServingInstallation(config: Config): Promise<Installation> {
  const installation = await openWith(config, openServingDatabase)
  try {
    await requireCurrency({ ...installation.accounts, currency: config.billing.currency })
    await noteSettings(installation.accounts, config)
    return installation
  } catch (error) {
    await installation.db.destroy()
    throw error
  }
}

const valuesSchema = z.record(z.string(), z.string())

/** Leaves a row in the audit where the service starts with other settings, or other weights, than the last time. */
async function noteSettings(parts: Pick<AccountsParts, 'db' | 'clock'>, config: Config): Promise<void> {
  const path = join(config.home, 'settings-last-run.json')
  const now = Object.fromEntries(listSettings(config).map(({ name, value }) => [name, value]))
  const { data: before } = valuesSchema.safeParse(existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : null)
  const names = Object.keys({ ...before, ...now }).filter((name) => before?.[name] !== now[name])
  if (names.length === 0) return
  if (before !== undefined) {
    const pick = (values: Readonly<Record<string, string>>) =>
      Object.fromEntries(names.map((name) => [name, values[name] ?? null]))
    const action = { action: 'installation:configure', organizationId: installationChain, target: hostname() }
    await change(parts, { kind: 'operator' }, action, (_, note) => Promise.resolve(note(pick(before), pick(now))))
  }
  // After the row: who is killed in between tells it twice, and never not at all.
  writeFileDurably(path, `${JSON.stringify(now)}\n`)
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
