import { hkdfSync, randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

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
}

/**
 * The install's secrets, derived from one file in the data folder.
 *
 * The file is made on the first start, readable by its owner alone. Losing it
 * makes every API key unusable; it belongs in the backup.
 */
export function loadSecrets(home: string): Secrets {
  const master = readOrCreate(join(home, 'secret.key'))
  const derive = (purpose: string) => new Uint8Array(hkdfSync('sha256', master, '', `odyssey ${purpose}`, 32))
  return {
    keyHashSecret: derive('api-key hashes'),
    signatureKey: derive('thinking signatures'),
    promptCacheKey: derive('prompt cache'),
    auditAnchorKey: derive('audit anchors'),
    storedAnswerKey: derive('stored answers'),
  }
}

function readOrCreate(path: string): Buffer {
  try {
    writeFileSync(path, `${randomBytes(32).toString('hex')}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  const text = readFileSync(path, 'utf8').trim()
  if (!/^[0-9a-f]{64}$/.test(text)) throw new Error(`${path} is damaged: it must hold 64 hexadecimal digits.`)
  return Buffer.from(text, 'hex')
}
