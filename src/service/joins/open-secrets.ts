import { existsSync, rmSync } from 'node:fs'
import { createSecret, loadSecrets, secretPathIn, type Secrets } from '../../config/load-secret.ts'
import type { Database } from '../../db/database.ts'
import type { Clock } from '../../lib/clock.ts'

/**
 * The secrets that the database was made with; a new installation gets its own.
 *
 * A secret that is gone, or another one, is refused and never replaced: under it
 * no key would work, and the keys made from then on would not work with the
 * right one.
 */
export async function openSecrets(
  home: string,
  { db, clock }: { readonly db: Database; readonly clock: Clock },
): Promise<Secrets> {
  const path = secretPathIn(home)
  const fault = await findSecretFault(home, db)
  if (fault !== null) throw new Error(fault)
  const isNew = createSecret(home)
  const secrets = loadSecrets(home)
  const bound = await bindToSecret({ db, clock }, secrets.fingerprint)
  if (bound === secrets.fingerprint) return secrets
  if (!isNew) throw new Error(foreign(path))
  // Another gateway was a moment faster; nothing was made with this secret yet.
  rmSync(path)
  throw new Error(missing(path))
}

/** Why the data folder's secret does not go with the database, in words for the operator; null where it does. */
export async function findSecretFault(home: string, db: Database): Promise<string | null> {
  const path = secretPathIn(home)
  // In this order: whoever binds the database has written the file before.
  const installation = await readInstallation(db)
  if (!existsSync(path)) return installation.isInUse ? missing(path) : null
  const { fingerprint } = installation
  return fingerprint === null || fingerprint === loadSecrets(home).fingerprint ? null : foreign(path)
}

const remedy = 'Put it back from where you keep the secret; with several gateways it is the same file on each.'

function missing(path: string): string {
  return `${path} is missing, and without it no API key of this database works. ${remedy}`
}

function foreign(path: string): string {
  return `${path} is not the secret that this database was made with: no API key would work. ${remedy}`
}

const id = 'installation'

type InstallationState = {
  /** The fingerprint of the secret it is bound to; null for a new database, and for one from before fingerprints. */
  readonly fingerprint: string | null
  /** Whether there may be keys in it, which work with one secret alone. */
  readonly isInUse: boolean
}

async function readInstallation(db: Database): Promise<InstallationState> {
  const fingerprint = await readFingerprint(db)
  const organization = await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst()
  return { fingerprint, isInUse: fingerprint !== null || organization !== undefined }
}

/** Binds the database to a secret unless it is bound already. Returns whose fingerprint it has now: of several that come at once, one stays. */
async function bindToSecret(
  { db, clock }: { readonly db: Database; readonly clock: Clock },
  fingerprint: string,
): Promise<string> {
  const bound = await readFingerprint(db)
  if (bound !== null) return bound
  await db
    .insertInto('installation')
    .values({ id, secret_fingerprint: fingerprint, created_at: clock.nowMs() })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await readFingerprint(db)) ?? fingerprint
}

async function readFingerprint(db: Database): Promise<string | null> {
  const row = await db.selectFrom('installation').select('secret_fingerprint').where('id', '=', id).executeTakeFirst()
  return row?.secret_fingerprint ?? null
}
