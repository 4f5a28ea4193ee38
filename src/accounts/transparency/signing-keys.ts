// The Ed25519 keys that sign checkpoints. They lie in files of their own and are not derived from the installation's
// secret, so that who has that secret cannot sign.

import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { installationChain, change, type ChangeParts } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { Principal } from '../../core/principal.ts'
import type { Clock } from '../../lib/clock.ts'
import { publicKeyOf } from '../../lib/signed-note.ts'
import { syncFolder, writeAndSync } from '../../lib/write-file-durably.ts'

/** After a rotation the key before signs as well, so that whoever reads with that one has time to learn of the other. */
const overlapMs = 30 * 86_400_000

export type AuditKey = { readonly publicKey: Buffer; readonly createdAtMs: number }

export function signingKeyPathIn(home: string): string {
  return join(home, 'audit-signing.key')
}

function previousKeyPathIn(home: string): string {
  return join(home, 'audit-signing.previous.key')
}

type KeyParts = { readonly db: Database; readonly clock: Clock }

/**
 * The keys to sign with, the newest first. The first process of an installation makes one.
 *
 * None where another gateway has it: whoever has no copy of the file leaves signing to the others. Throws where the
 * file is not the key that this installation signs with.
 */
export async function openSigningKeys(home: string, { db, clock }: KeyParts): Promise<readonly KeyObject[]> {
  const path = signingKeyPathIn(home)
  if (!existsSync(path) && !(await makeFirstKey(path, { db, clock }))) return []
  const current = readKey(path)
  const newest = (await listAuditKeys(db)).at(-1)
  if (newest === undefined) await writeDown({ db, clock }, 1, current)
  else if (!publicKeyOf(current).equals(newest.publicKey)) {
    throw new Error(
      `${path} is not the key that signs the audit of this installation. Copy that of the other gateways.`,
    )
  }
  const previousPath = previousKeyPathIn(home)
  const isOverlap = newest !== undefined && clock.nowMs() < newest.createdAtMs + overlapMs
  return isOverlap && existsSync(previousPath) ? [current, readKey(previousPath)] : [current]
}

/** Every key that ever signed here, the oldest first. */
export async function listAuditKeys(db: Database): Promise<readonly AuditKey[]> {
  const rows = await db.selectFrom('audit_keys').selectAll().orderBy('number').execute()
  return rows.map(({ public_key, created_at }) => ({
    publicKey: Buffer.from(public_key, 'base64'),
    createdAtMs: created_at,
  }))
}

/** Signs with a new key from now on, which the audit tells. Returns it; the file of the key before stays beside it. */
export async function rotateSigningKey(home: string, parts: ChangeParts, principal: Principal): Promise<Buffer> {
  const path = signingKeyPathIn(home)
  const number = (await listAuditKeys(parts.db)).length + 1
  const key = generateKeyPairSync('ed25519').privateKey
  const publicKey = publicKeyOf(key)
  const action = { action: 'audit-keys:rotate', organizationId: installationChain, target: `key ${number}` }
  await change(parts, principal, action, async (transaction, note) => {
    note(null, { publicKey: publicKey.toString('base64') })
    await transaction
      .insertInto('audit_keys')
      .values({ number, public_key: publicKey.toString('base64'), created_at: parts.clock.nowMs() })
      .execute()
    // Within the transaction: a key that the database knows has its file, and a failure leaves the old one in force.
    if (existsSync(path)) renameSync(path, previousKeyPathIn(home))
    writeKey(path, key)
    syncFolder(home)
  })
  return publicKey
}

/** Whether it is this process that made the installation's first key. */
async function makeFirstKey(path: string, parts: KeyParts): Promise<boolean> {
  if ((await listAuditKeys(parts.db)).length > 0) return false
  const key = generateKeyPairSync('ed25519').privateKey
  writeKey(path, key)
  if (await writeDown(parts, 1, key)) return true
  // Another gateway was a moment faster; nothing was signed with this one.
  rmSync(path)
  return false
}

async function writeDown({ db, clock }: KeyParts, number: number, key: KeyObject): Promise<boolean> {
  const added = await db
    .insertInto('audit_keys')
    .values({ number, public_key: publicKeyOf(key).toString('base64'), created_at: clock.nowMs() })
    .onConflict((conflict) => conflict.column('number').doNothing())
    .returning('number')
    .executeTakeFirst()
  return added !== undefined
}

function writeKey(path: string, key: KeyObject): void {
  writeAndSync(path, key.export({ type: 'pkcs8', format: 'pem' }).toString(), 'wx')
}

function readKey(path: string): KeyObject {
  try {
    const key = createPrivateKey(readFileSync(path))
    if (key.asymmetricKeyType === 'ed25519') return key
  } catch {
    // Which of its parts is wrong is nobody's business.
  }
  throw new Error(
    `${path} is no Ed25519 key. Put it back from the backup; with several gateways it is the same on each.`,
  )
}
