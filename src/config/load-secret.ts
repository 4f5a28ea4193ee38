import { hkdfSync, randomBytes } from 'node:crypto'
import { constants, copyFileSync, linkSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, messageOf } from '../lib/message-of.ts'
import { syncFolder, writeAndSync } from '../lib/write-file-durably.ts'

export type Secrets = {
  /** API keys are stored as hashes under this. */
  readonly keyHashSecret: Uint8Array
  /** Signs the thinking that clients send back. */
  readonly signatureKey: Uint8Array
  /** Encrypts prompts that are kept on the disk. */
  readonly promptCacheKey: Uint8Array
  /** Signs how far the audit has come. */
  readonly auditAnchorKey: Uint8Array
  /** Encrypts the answers that are kept for requests that are sent again. */
  readonly storedAnswerKey: Uint8Array
  /** Encrypts the secrets of people's authenticator apps. */
  readonly signInKey: Uint8Array
  /** Encrypts where alerts go, and what signs them. */
  readonly alertKey: Uint8Array
  /** Encrypts what organizations have recorded of their requests, under a key of each made of it. */
  readonly recordingKey: Uint8Array
  /** Keeps what clients are told of the deployment from being computed by others. */
  readonly systemFingerprintKey: Uint8Array
  /** End users are kept as hashes under this, where an organization asks for that. */
  readonly endUserKey: Uint8Array
  /** Tells in the database whose secret it was made with. Nothing is kept under it, and the secret cannot be found from it. */
  readonly fingerprint: string
}

export function secretPathIn(home: string): string {
  return join(home, 'secret.key')
}

/**
 * The install's secrets, derived from one file in the data folder.
 *
 * Losing the file makes every API key unusable; a backup of the database does not hold it.
 */
export function loadSecrets(home: string): Secrets {
  const master = readSecret(secretPathIn(home))
  const derive = (purpose: string) => new Uint8Array(hkdfSync('sha256', master, '', `odyssey ${purpose}`, 32))
  return {
    keyHashSecret: derive('api-key hashes'),
    signatureKey: derive('thinking signatures'),
    promptCacheKey: derive('prompt cache'),
    auditAnchorKey: derive('audit anchors'),
    storedAnswerKey: derive('stored answers'),
    signInKey: derive('sign-in'),
    alertKey: derive('alert channels'),
    recordingKey: derive('recordings'),
    systemFingerprintKey: derive('system fingerprints'),
    endUserKey: derive('end users'),
    fingerprint: Buffer.from(derive('installation fingerprint')).toString('hex'),
  }
}

/**
 * Makes the file, readable by its owner alone, unless it is there. Returns whether it was made.
 *
 * It appears whole and outlasts a power cut, so nobody reads half of it, and no
 * database is ever bound to a secret that is gone.
 */
export function createSecret(home: string): boolean {
  const path = secretPathIn(home)
  const unfinished = `${path}.${randomBytes(6).toString('hex')}`
  try {
    writeAndSync(unfinished, `${randomBytes(32).toString('hex')}\n`, 'wx')
    putInPlace(unfinished, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  } finally {
    rmSync(unfinished, { force: true })
  }
  syncFolder(home)
  return true
}

/** Unlike renaming, a link never replaces what is there; a few file systems have none. */
function putInPlace(from: string, to: string): void {
  try {
    linkSync(from, to)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error
    copyFileSync(from, to, constants.COPYFILE_EXCL)
  }
}

function readSecret(path: string): Buffer {
  const text = readText(path).trim()
  if (/^[0-9a-f]{64}$/.test(text)) return Buffer.from(text, 'hex')
  throw new Error(`${path} is damaged: it must hold 64 hexadecimal digits. Put it back from where you keep the secret.`)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`${path} cannot be read: ${messageOf(error)}.`, { cause: error })
  }
}
