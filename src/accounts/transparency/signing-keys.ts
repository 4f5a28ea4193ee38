// The Ed25519 keys that sign checkpoints. They lie in files of their own, or behind a command, and are not derived from
// the installation's secret, so that who has that secret cannot sign.

import { spawn } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { installationChain, change, type ChangeParts } from '../../db/change.ts'
import type { Database } from '../../db/database.ts'
import type { Principal } from '../../core/principal.ts'
import type { Clock } from '../../lib/clock.ts'
import { isSigned, localKey, publicKeyOf, type SigningKey } from '../../lib/signed-note.ts'
import { syncFolder, writeAndSync } from '../../lib/write-file-durably.ts'

/** A key that lies elsewhere, such as on another machine, and what signs with it. */
export type SignerCommand = {
  /** Its 32 bytes in base64. */
  readonly publicKey: string
  /** The program and its arguments. It is given a text, and writes the signature of it in base64. */
  readonly command: readonly string[]
}

/** Who has to ask a person or a module first may take so long. */
const waitMsMax = 30_000
/** A signature is 88 characters long. */
const outputBytesMax = 10_000

/** After a rotation the key before signs as well, so that whoever reads with that one has time to learn of the other. */
const overlapMs = 30 * 86_400_000

export type AuditKey = { readonly publicKey: Buffer; readonly createdAtMs: number }

export function signingKeyPathIn(home: string): string {
  return join(home, 'audit-signing.key')
}

function previousKeyPathIn(home: string): string {
  return join(home, 'audit-signing.previous.key')
}

/** Where the keys of an installation are: in its data folder, or behind a command. */
export type KeyPlace = { readonly home: string; readonly signer: SignerCommand | null }

type KeyParts = { readonly db: Database; readonly clock: Clock }

/**
 * The keys to sign with, the newest first. The first process of an installation makes one.
 *
 * None where another gateway has it: whoever has no copy of the file leaves signing to the others. Throws where the
 * file is not the key that this installation signs with.
 */
export async function openSigningKeys(
  { home, signer }: KeyPlace,
  { db, clock }: KeyParts,
): Promise<readonly SigningKey[]> {
  const path = signingKeyPathIn(home)
  if (signer === null && !existsSync(path) && !(await makeFirstKey(path, { db, clock }))) return []
  const current = signer === null ? readOwnKey(path) : commandKey(signer)
  const newest = (await listAuditKeys(db)).at(-1)
  if (newest === undefined) await writeDown({ db, clock }, 1, current.publicKey)
  else if (!current.publicKey.equals(newest.publicKey)) {
    const [where, help] =
      signer === null
        ? [path, 'Copy that of the other gateways.']
        : ['The key of audit.signer', 'odyssey audit rotate-key makes it that.']
    throw new Error(`${where} is not the key that signs the audit of this installation. ${help}`)
  }
  const previousPath = previousKeyPathIn(home)
  const isOverlap = newest !== undefined && clock.nowMs() < newest.createdAtMs + overlapMs
  return isOverlap && existsSync(previousPath) ? [current, readOwnKey(previousPath)] : [current]
}

/** Every key that ever signed here, the oldest first. */
export async function listAuditKeys(db: Database): Promise<readonly AuditKey[]> {
  const rows = await db.selectFrom('audit_keys').selectAll().orderBy('number').execute()
  return rows.map(({ public_key, created_at }) => ({
    publicKey: Buffer.from(public_key, 'base64'),
    createdAtMs: created_at,
  }))
}

/**
 * Signs with a new key from now on, which the audit tells: one that is made, or that of the command. Returns it; the file
 * of the key before stays beside it.
 */
export async function rotateSigningKey(
  { home, signer }: KeyPlace,
  parts: ChangeParts,
  principal: Principal,
): Promise<Buffer> {
  const path = signingKeyPathIn(home)
  const known = await listAuditKeys(parts.db)
  const number = known.length + 1
  const next = signer === null ? newKey() : { publicKey: await tryCommand(signer, known), privateKey: null }
  const publicKey = next.publicKey.toString('base64')
  const action = { action: 'audit-keys:rotate', organizationId: installationChain, target: `key ${number}` }
  await change(parts, principal, action, async (transaction, note) => {
    note(null, { publicKey })
    await transaction
      .insertInto('audit_keys')
      .values({ number, public_key: publicKey, created_at: parts.clock.nowMs() })
      .execute()
    // Within the transaction: a key that the database knows has its file, and a failure leaves the old one in force.
    if (existsSync(path)) renameSync(path, previousKeyPathIn(home))
    if (next.privateKey !== null) writeKey(path, next.privateKey)
    syncFolder(home)
  })
  return next.publicKey
}

/** The key of a command that signs. Throws where it does not, or has signed here before. */
async function tryCommand(signer: SignerCommand, known: readonly AuditKey[]): Promise<Buffer> {
  const { publicKey, sign } = commandKey(signer)
  if (known.some((one) => one.publicKey.equals(publicKey))) {
    throw new Error('The key of audit.signer signs already, or did once. Name a new one there first.')
  }
  await sign('odyssey\n')
  return publicKey
}

/** Whether it is this process that made the installation's first key. */
async function makeFirstKey(path: string, parts: KeyParts): Promise<boolean> {
  if ((await listAuditKeys(parts.db)).length > 0) return false
  const { privateKey, publicKey } = newKey()
  writeKey(path, privateKey)
  if (await writeDown(parts, 1, publicKey)) return true
  // Another gateway was a moment faster; nothing was signed with this one.
  rmSync(path)
  return false
}

async function writeDown({ db, clock }: KeyParts, number: number, publicKey: Buffer): Promise<boolean> {
  const added = await db
    .insertInto('audit_keys')
    .values({ number, public_key: publicKey.toString('base64'), created_at: clock.nowMs() })
    .onConflict((conflict) => conflict.column('number').doNothing())
    .returning('number')
    .executeTakeFirst()
  return added !== undefined
}

function newKey() {
  const { privateKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey: publicKeyOf(privateKey) }
}

/** Makes a key in a new file, and returns its public half. One that is there has signed, and is never written over. */
export function makeKeyFile(path: string): Buffer {
  const { privateKey, publicKey } = newKey()
  writeKey(path, privateKey)
  return publicKey
}

function writeKey(path: string, key: KeyObject): void {
  writeAndSync(path, key.export({ type: 'pkcs8', format: 'pem' }).toString(), 'wx')
}

/** The key in a file. Throws for what is no key to sign with. */
export function readKeyFile(path: string): SigningKey {
  const pem = readFileSync(path)
  try {
    const key = createPrivateKey(pem)
    if (key.asymmetricKeyType === 'ed25519') return localKey(key)
  } catch {
    // Which of its parts is wrong is nobody's business.
  }
  throw new Error(`${path} is no Ed25519 key.`)
}

/** The same of a file in the data folder. */
function readOwnKey(path: string): SigningKey {
  try {
    return readKeyFile(path)
  } catch (cause) {
    const help =
      'Put it back from where you keep it: no backup of the database holds it. With several gateways it is the same on each.'
    throw new Error(`${path} is no Ed25519 key. ${help}`, { cause })
  }
}

/** What a command writes is believed only where the key has signed just the text that it was given. */
function commandKey({ publicKey, command }: SignerCommand, waitMs = waitMsMax): SigningKey {
  const key = Buffer.from(publicKey, 'base64')
  return {
    publicKey: key,
    async sign(text) {
      const signature = Buffer.from(await run(command, text, waitMs), 'base64')
      if (isSigned(text, { publicKey: key }, signature)) return signature
      throw new Error('What the command of audit.signer wrote is no signature by its key.')
    },
  }
}

/** What the command writes. Rejects where it fails, with what it says of that. */
function run([program = '', ...args]: readonly string[], text: string, waitMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'pipe', timeout: waitMs, killSignal: 'SIGKILL' })
    const [output, errors] = [collect(child.stdout), collect(child.stderr)]
    child.once('error', (error) => reject(new Error(`The command of audit.signer cannot be run: ${error.message}`)))
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(output().trim())
      const end = signal === null ? `ended with ${code}` : `was ended after ${waitMs / 1_000} s`
      const said = errors().trim().slice(0, 500)
      reject(new Error(`The command of audit.signer ${end}${said === '' ? '.' : `: ${said}`}`))
    })
    // It may end without having read everything; why is told by how it ends.
    child.stdin.once('error', () => {})
    child.stdin.end(text)
  })
}

/** Reads to the end, and keeps no more than so much. */
function collect(stream: NodeJS.ReadableStream): () => string {
  const pieces: Buffer[] = []
  let bytes = 0
  stream.on('data', (piece: Buffer) => {
    if (bytes < outputBytesMax) pieces.push(piece)
    bytes += piece.length
  })
  return () => Buffer.concat(pieces).toString('utf8').slice(0, outputBytesMax)
}
