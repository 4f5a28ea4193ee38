import { crc32 } from 'node:zlib'
import { alphabet, randomId } from '../lib/random-id.ts'

const prefix = 'sk-ody-'
const secretLength = 32
const checksumLength = 6
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${secretLength + checksumLength}}$`)

/** A new key: `sk-ody-`, 32 random characters (190 bits) and a checksum of those in 6 characters. */
export function createKey(): string {
  const secret = randomId(secretLength)
  return `${prefix}${secret}${checksum(secret)}`
}

/** Tells a key from a typing error or a guess without asking the database. */
export function isWellFormedKey(key: string): boolean {
  if (!shape.test(key)) return false
  const secret = key.slice(prefix.length, prefix.length + secretLength)
  return key.endsWith(checksum(secret))
}

/** What may be shown of a key that was refused. */
export function maskKey(key: string): string {
  return key.length < 12 ? '***' : `${key.slice(0, 5)}***${key.slice(-3)}`
}

function checksum(secret: string): string {
  let rest = crc32(secret)
  let digits = ''
  for (let place = 0; place < checksumLength; place++) {
    digits = `${alphabet[rest % 62]}${digits}`
    rest = Math.floor(rest / 62)
  }
  return digits
}
