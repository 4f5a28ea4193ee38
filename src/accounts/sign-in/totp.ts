// Time-based one-time passwords (RFC 6238): SHA-1, 30 seconds, six digits, which is what every authenticator app knows.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const stepMs = 30_000
/** The clock of a telephone may be a step away from ours, and typing takes time. */
const stepsBeside = 1
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A new secret of 160 bits, in base32 as apps take it. */
export function createTotpSecret(): string {
  const bits = [...randomBytes(20)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => alphabet[Number.parseInt(five, 2)]).join('')
}

/** What an app reads from a picture. */
export function totpUri(
  secret: string,
  { issuer, account }: { readonly issuer: string; readonly account: string },
): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`
}

/** The step that a code is right for, or null. A step that was used before, or one older than it, counts no more. */
export function findTotpStep(secret: string, code: string, { nowMs, lastStep }: { nowMs: number; lastStep: number }) {
  const current = Math.floor(nowMs / stepMs)
  let found: number | null = null
  for (let step = current - stepsBeside; step <= current + stepsBeside; step++) {
    if (step > lastStep && isSame(totpCode(secret, step), code)) found = step
  }
  return found
}

/** The code of one step; of the step that a time lies in for `Math.floor(ms / 30_000)`. */
export function totpCode(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', decodeBase32(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0xf
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff
  return String(number % 1_000_000).padStart(6, '0')
}

function decodeBase32(text: string): Buffer {
  const bits = [...text].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}
