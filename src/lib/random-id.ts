import { randomFillSync } from 'node:crypto'

/** Digits and letters, in the order of their codes. */
export const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Asking for random bytes takes as long for many as for few. Each is used once; all count as used at first. */
const pool = { bytes: new Uint8Array(1_024), used: 1_024 }

/** Random letters and digits; 24 of them carry 142 bits. */
export function randomId(length = 24): string {
  let id = ''
  while (id.length < length) {
    const byte = randomByte()
    // Bytes from 248 on would favour the first letters: 248 is the largest multiple of 62 in a byte.
    if (byte < 248) id += alphabet[byte % 62]
  }
  return id
}

function randomByte(): number {
  if (pool.used === pool.bytes.length) {
    randomFillSync(pool.bytes)
    pool.used = 0
  }
  const byte = pool.bytes[pool.used] ?? 0
  // Nobody who gets to see the memory learns from it what was given out.
  pool.bytes[pool.used] = 0
  pool.used += 1
  return byte
}
