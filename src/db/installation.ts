import type { Clock } from '../lib/clock.ts'
import type { Database } from './database.ts'

const id = 'installation'

export type InstallationState = {
  /** The fingerprint of the secret it is bound to; null for a new database, and for one from before fingerprints. */
  readonly fingerprint: string | null
  /** Whether there may be keys in it, which work with one secret alone. */
  readonly isInUse: boolean
}

export async function readInstallation(db: Database): Promise<InstallationState> {
  const fingerprint = await readFingerprint(db)
  const organization = await db.selectFrom('organizations').select('id').limit(1).executeTakeFirst()
  return { fingerprint, isInUse: fingerprint !== null || organization !== undefined }
}

/** Binds the database to a secret unless it is bound already. Returns whose fingerprint it has now: of several that come at once, one stays. */
export async function bindToSecret(
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
