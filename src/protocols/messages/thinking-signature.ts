import { createCipheriv, createDecipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/**
 * Signs the thinking an answer shows and carries the thinking it hides.
 *
 *     shown  = base64( 1 | HMAC-SHA-256 of the text )
 *     hidden = base64( 2 | nonce | AES-256-GCM of the text | tag )
 *
 * A client only hands signatures back, so their form may change under a new version byte.
 */
export type ThinkingSignature = {
  sign(text: string): string
  seal(text: string): string
  /** The thinking a replayed block stands for; null where this service did not write the block. */
  open(thinking: string, signature: string): string | null
}

const signedVersion = 1
const sealedVersion = 2
const keyBytes = 32
// Both lengths are those AES-GCM is specified for.
const nonceBytes = 12
const tagBytes = 16

export function createThinkingSignature(key: Uint8Array): ThinkingSignature {
  const [signingKey, sealingKey, nonceKey] = ['sign', 'seal', 'nonce'].map((use) => deriveKey(key, use)) as [
    Buffer,
    Buffer,
    Buffer,
  ]
  return {
    sign: (text) => encode(signedVersion, digest(signingKey, text)),
    seal: (text) => encode(sealedVersion, encrypt(sealingKey, nonceKey, text)),
    open(thinking, signature) {
      const bytes = decode(signature)
      if (bytes === null) return null
      const payload = bytes.subarray(1)
      if (bytes[0] === signedVersion) return isEqual(payload, digest(signingKey, thinking)) ? thinking : null
      return bytes[0] === sealedVersion ? decrypt(sealingKey, payload) : null
    },
  }
}

function deriveKey(key: Uint8Array, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, new Uint8Array(), `thinking ${use}`, keyBytes))
}

function digest(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function encode(version: number, payload: Buffer): string {
  return Buffer.concat([Buffer.of(version), payload]).toString('base64')
}

/** Only the one canonical spelling counts, so that no changed character goes unnoticed. */
function decode(signature: string): Buffer | null {
  const bytes = Buffer.from(signature, 'base64')
  return bytes.toString('base64') === signature ? bytes : null
}

function isEqual(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right)
}

/** The nonce follows from the text, so one text always seals to the same bytes and no two texts share a nonce. */
function encrypt(sealingKey: Buffer, nonceKey: Buffer, text: string): Buffer {
  const nonce = digest(nonceKey, text).subarray(0, nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', sealingKey, nonce)
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

function decrypt(sealingKey: Buffer, payload: Buffer): string | null {
  if (payload.length < nonceBytes + tagBytes) return null
  const decipher = createDecipheriv('aes-256-gcm', sealingKey, payload.subarray(0, nonceBytes))
  decipher.setAuthTag(payload.subarray(-tagBytes))
  try {
    return Buffer.concat([decipher.update(payload.subarray(nonceBytes, -tagBytes)), decipher.final()]).toString('utf8')
  } catch {
    // The tag did not match: another key sealed it, or somebody changed it.
    return null
  }
}
