// Long texts are walked as an array of their UTF-16 units: it takes a third of the time of
// asking the string for each.

export function unitsOf(text: string): Uint16Array {
  const bytes = Buffer.from(text, 'utf16le')
  // A small buffer may lie at an odd place of a shared pool.
  const isAligned = bytes.byteOffset % 2 === 0
  const { buffer, byteOffset } = isAligned ? bytes : Uint8Array.from(bytes)
  return new Uint16Array(buffer, byteOffset, text.length)
}

/** Halves of characters included; a text without any unit above U+00FF takes half the memory. */
export function textOf(units: Uint16Array): string {
  if (units.length <= shortMax) return String.fromCharCode(...units)
  let all = 0
  for (let index = 0; index < units.length; index++) all |= units[index] ?? 0
  if (all < 0x100) return Buffer.from(Uint8Array.from(units).buffer).toString('latin1')
  return wideTextOf(units)
}

/** For texts that are known to hold such units. */
export function wideTextOf(units: Uint16Array): string {
  return Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString('utf16le')
}

/** Below this a buffer costs more than the text itself. */
const shortMax = 64
