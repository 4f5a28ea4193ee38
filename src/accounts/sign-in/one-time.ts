// Secrets that are handed out once and kept as hashes: tokens of sessions, links and browsers, and recovery codes.

import { createHash, createHmac, randomBytes } from 'node:crypto'

const tokenShape = /^[\w-]{43}$/

/** 256 random bits, in letters that stand in a cookie and in an address as they are. */
export function createToken(): string {
  return randomBytes(32).toString('base64url')
}

export function isToken(text: string): boolean {
  return tokenShape.test(text)
}

/** A token is random, so one round of a hash is as hard to reverse as many. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

const codeLetters = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const codesInAll = 10

/** Ten codes of 80 bits each, without letters that look alike. */
export function createRecoveryCodes(): readonly string[] {
  return Array.from({ length: codesInAll }, () => {
    const letters = [...randomBytes(16)].map((byte) => codeLetters[byte % codeLetters.length]).join('')
    return (letters.match(/.{4}/g) ?? []).join('-')
  })
}

/** Codes are typed from paper, so what separates them and whether they are capitals is no matter. */
export function hashRecoveryCode(hashSecret: Uint8Array, code: string): string {
  const plain = code.toUpperCase().replaceAll(/[^0-9A-Z]/g, '')
  return createHmac('sha256', hashSecret).update(`recovery code ${plain}`).digest('hex')
}
