// The rules of JSON itself. White space is at most one space after a colon or a
// comma: models are at home in both `{"a": 1}` and `{"a":1}`, and free white
// space lets a model that has lost its way produce blanks without end.

import { characterClass } from '../lib/gbnf.ts'
import type { GrammarBuilder } from './grammar-builder.ts'

/** The space that may stand after every colon and comma. */
const optionalSpace = '" "?'
export const comma = `"," ${optionalSpace}`
export const colon = `":" ${optionalSpace}`

/** The digits of a signed 64-bit number; more are noise, or a model that cannot stop. */
export const integerDigitsMax = 19
/** What a double can tell apart. */
export const fractionDigitsMax = 16
/** Bounds an exponent at 99, so that no number leaves the range of a double. */
const exponentDigitsMax = 2

const rawCharacters = characterClass([
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0xd7ff],
  [0xe000, 0x10ffff],
])
const escapes = String.raw`"\\" ["\\/bfnrt]`

/**
 * One character of a string, raw or escaped.
 *
 * Surrogates are left out in both forms: half a pair is no text. No other rule is named in it: xgrammar looks at nearly its
 * whole vocabulary for each token of a text whose characters are rules of rules, which takes it tens of milliseconds.
 */
export function stringCharacter(builder: GrammarBuilder): string {
  const hex = '[0-9a-fA-F]'
  const low = `"\\\\u" [0-9a-cA-CeEfF] ${hex} ${hex} ${hex}`
  const high = `"\\\\u" [dD] [0-7] ${hex} ${hex}`
  return builder.rule('char', `${rawCharacters} | ${escapes} | ${low} | ${high}`)
}

export function anyString(builder: GrammarBuilder): string {
  return builder.rule('string', `"\\"" ${stringCharacter(builder)}* "\\""`)
}

export function anyNumber(builder: GrammarBuilder): string {
  const whole = `"-"? ("0" | [1-9] [0-9]{0,${integerDigitsMax - 1}})`
  const fraction = `("." [0-9]{1,${fractionDigitsMax}})?`
  return builder.rule('number', `${whole} ${fraction} ([eE] [-+]? [0-9]{1,${exponentDigitsMax}})?`)
}

export function anyInteger(builder: GrammarBuilder): string {
  return builder.rule('integer', `"0" | "-"? [1-9] [0-9]{0,${integerDigitsMax - 1}}`)
}

export function anyBoolean(builder: GrammarBuilder): string {
  return builder.rule('boolean', '"true" | "false"')
}

export function nullValue(builder: GrammarBuilder): string {
  return builder.rule('null', '"null"')
}

/** Any JSON value at all. */
export function anyJsonValue(builder: GrammarBuilder): string {
  return builder.shared('json-value', (value) =>
    [
      builder.shared('json-object', () => objectBody(builder, value)),
      builder.shared('json-array', () => arrayBody(value)),
      anyString(builder),
      anyNumber(builder),
      anyBoolean(builder),
      nullValue(builder),
    ].join(' | '),
  )
}

/** Any JSON object. */
export function anyJsonObject(builder: GrammarBuilder): string {
  anyJsonValue(builder)
  return builder.shared('json-object', () => objectBody(builder, anyJsonValue(builder)))
}

export function anyJsonArray(builder: GrammarBuilder): string {
  anyJsonValue(builder)
  return builder.shared('json-array', () => arrayBody(anyJsonValue(builder)))
}

function objectBody(builder: GrammarBuilder, value: string): string {
  const member = builder.rule('json-member', `${anyString(builder)} ${colon} ${value}`)
  return `"{" (${member} (${comma} ${member})*)? "}"`
}

function arrayBody(value: string): string {
  return `"[" (${value} (${comma} ${value})*)? "]"`
}
