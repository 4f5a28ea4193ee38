/** The bytes that may go on with a character whose beginning is `pending`; null when it is whole or cannot be one. */
export function nextByteRange(pending: Uint8Array): readonly [low: number, high: number] | null {
  const [lead = 0] = pending
  const length =
    lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0
  if (pending.length === 0 || pending.length >= length) return null
  if (pending.length > 1) return [0x80, 0xbf]
  // Longer spellings than needed, surrogates and what lies beyond Unicode are no characters.
  if (lead === 0xe0) return [0xa0, 0xbf]
  if (lead === 0xed) return [0x80, 0x9f]
  if (lead === 0xf0) return [0x90, 0xbf]
  if (lead === 0xf4) return [0x80, 0x8f]
  return [0x80, 0xbf]
}

/** What is left open after more bytes: the beginning of a character, or null when the bytes are no text. */
export function continueUtf8(pending: Uint8Array, bytes: Uint8Array): Uint8Array | null {
  let open = [...pending]
  for (const byte of bytes) {
    const range = nextByteRange(Uint8Array.from(open))
    if (range === null && byte < 0x80) continue
    if (range !== null && (byte < range[0] || byte > range[1])) return null
    open.push(byte)
    const next = nextByteRange(Uint8Array.from(open))
    if (next !== null) continue
    if (range === null) return null
    open = []
  }
  return Uint8Array.from(open)
}
