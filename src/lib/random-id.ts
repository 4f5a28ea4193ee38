import { randomBytes } from 'node:crypto'

/** Digits and letters, in the order of their codes. */
export const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Random letters and digits; 24 of them carry 142 bits. */
export function randomId(length = 24): string {
  let id = ''
  while (id.length < length) {
    // Bytes from 248 on would favour the first letters: 248 is the largest multiple of 62 in a byte.
    for (const byte of randomBytes(length - id.length)) if (byte < 248) id += alphabet[byte % 62]
  }
  return id
}
