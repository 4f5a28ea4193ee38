// A client's text goes through the template in a code in which the characters that begin
// and end control tokens do not occur. Whatever the template does with the text, it cannot
// put a control token together from it; a mark set somewhere into the text could be cut
// off, trimmed past or split away. Each such character has one stand-in, so that lengths
// stay as they are.

import type { Found } from './token-finder.ts'

// Unicode reserves U+FDD0 to U+FDEF for a program's own use. No exchanged text may hold them,
// but a client's can: in the code each of those stands behind an escape.
const firstUnit = 0xfdd0
const lastUnit = 0xfdef
const escapeUnit = firstUnit
const borderUnit = firstUnit + 1
const firstStandIn = firstUnit + 2

/** How many different characters can have a stand-in. */
export const standInsMax = lastUnit - firstStandIn + 1

export interface TextCode {
  /**
   * A text in which none of the characters that are kept away occurs; each two in a `spread` range are kept apart.
   *
   * As in `decode`, the array is the code's to write to.
   */
  encode(units: Uint16Array, spread: readonly Found[]): string
  decode(units: Uint16Array): Uint16Array
  /** Stands for nothing, and keeps what is on its sides apart. */
  readonly border: string
}

export type TextCodeOptions = {
  /** The characters that must not occur: at most `standInsMax`, one UTF-16 unit each. */
  readonly kept: readonly string[]
  /** The template may write all that is not ASCII as an escape of JSON, and so the stand-ins too. */
  readonly survivesEscapes: boolean
}

export function createTextCode({ kept, survivesEscapes }: TextCodeOptions): TextCode {
  const coded = Uint16Array.from({ length: 0x10000 }, (_, unit) => unit)
  const decoded = Uint16Array.from(coded)
  for (const [index, character] of kept.entries()) {
    coded[character.charCodeAt(0)] = firstStandIn + index
    decoded[firstStandIn + index] = character.charCodeAt(0)
  }
  const border = String.fromCharCode(borderUnit)
  return {
    border,
    encode(units, spread) {
      const result = encodeUnits(units, spread, coded)
      // What a client itself wrote as an escape must not be read as one of ours.
      return survivesEscapes ? result.replace(/\\u(?=fd[de])/g, `$&${border}`) : result
    },
    decode: (units) => decodeUnits(survivesEscapes ? unescapeUnits(units) : units, decoded),
  }
}

/** Goes over the units and not over matches: a text may consist of nothing but what is to be replaced. */
function encodeUnits(units: Uint16Array, spread: readonly Found[], coded: Uint16Array): string {
  let growth = spread.reduce((sum, { start, end }) => sum + end - start, 0)
  for (let index = 0; index < units.length; index++) if (isReserved(units[index] ?? 0)) growth += 1
  if (growth > 0) return wideTextOf(encodeGrowing(units, { spread, coded, growth }))
  for (let index = 0; index < units.length; index++) units[index] = coded[units[index] ?? 0] ?? 0
  return wideTextOf(units)
}

type Growing = { readonly spread: readonly Found[]; readonly coded: Uint16Array; readonly growth: number }

function encodeGrowing(units: Uint16Array, { spread, coded, growth }: Growing): Uint16Array {
  const result = new Uint16Array(units.length + growth)
  let length = 0
  let range = 0
  for (let index = 0; index < units.length; index++) {
    const unit = units[index] ?? 0
    if (range < spread.length) {
      if (index >= (spread[range]?.end ?? 0)) range += 1
      // The two halves of a character stay together.
      if (index > (spread[range]?.start ?? Infinity) && !isLowSurrogate(unit)) result[length++] = borderUnit
    }
    if (isReserved(unit)) result[length++] = escapeUnit
    result[length++] = coded[unit] ?? unit
  }
  return result.subarray(0, length)
}

/** Writes over what was read, which is never shorter than what it decodes to. */
function decodeUnits(units: Uint16Array, decoded: Uint16Array): Uint16Array {
  let length = 0
  for (let index = 0; index < units.length; index++) {
    const unit = units[index] ?? 0
    if (unit === borderUnit) continue
    if (unit !== escapeUnit) units[length++] = decoded[unit] ?? unit
    // A template that cut a pair apart leaves an escape of nothing.
    else if (isReserved(units[index + 1] ?? 0)) units[length++] = units[++index] ?? 0
  }
  return units.subarray(0, length)
}

function isReserved(unit: number): boolean {
  return unit >= firstUnit && unit <= lastUnit
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

function unescapeUnits(units: Uint16Array): Uint16Array {
  const unescape = (_: string, code: string) => String.fromCharCode(Number.parseInt(code, 16))
  return unitsOf(textOf(units).replace(/\\u(fd[de][\da-f])/g, unescape))
}

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

/** Skips the look for units above U+00FF, for a text that is known to hold them. */
export function wideTextOf(units: Uint16Array): string {
  return Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString('utf16le')
}

/** Below this a buffer costs more than the text itself. */
const shortMax = 64
