// An object is written as a chain with a link for each property, in the order of
// the schema:
//
//     link(i, n) = property(i) link(i + 1, n + 1) | link(i + 1, n)
//     link(last + 1, n) = extra properties "}"
//
// `n` counts the properties so far, as far as it matters: whether a comma is due,
// and for `minProperties` and `maxProperties`. The size is the product of the two
// and not, as with a list of combinations, a power of the number of properties.

import type { Body, Context } from './context.ts'
import { extraRule, isUnrestricted } from './extra-properties.ts'
import { anyJsonObject } from './json-rules.ts'
import { type Chain, linkProperties } from './link-properties.ts'
import { knownNames, knownProperties, type Property, readNames, readObjectParts } from './object-properties.ts'
import { repetitionMax, repetitionProductMax } from './schema/schema-limits.ts'
import { eachKeyword, faultOf, impossible, type Part, sizeMax, sizeMin } from './schema/schema-part.ts'

export function compileObject(context: Context, parts: readonly Part[], hint: string): Body {
  const { builder } = context
  const names = readNames(context, parts)
  const objects = readObjectParts(context, parts)
  const known = knownNames(objects, names)
  const extras = { objects, names, known, hint }
  const isAnySize = ['minProperties', 'maxProperties'].every((name) => eachKeyword(parts, name).length === 0)
  if (isAnySize && isUnrestricted(context, extras)) return { text: anyJsonObject(builder), own: braces, needs: [] }
  const properties = knownProperties(context, { objects, names, known })
  const extra = extraRule(context, extras)
  const size = propertyCount(context, parts, { properties, hasExtra: extra !== null })
  const members = properties.map(({ name, parts: inner, isRequired }) => {
    const key = builder.literal(`${JSON.stringify(name)}:`)
    const value = context.value(inner, name)
    return { rule: builder.rule(name, `${key} " "? ${value}`), isRequired, value, length: name.length }
  })
  const text =
    linkProperties(builder, { members, extra, ...size }) ?? linkFewer(context, parts, { members, extra, ...size })
  const required = members.filter(({ isRequired }) => isRequired)
  // Quotes, a colon and mostly a comma stand around a name.
  const own = required.reduce((sum, { length }) => sum + length + 4, braces)
  const needs = required.map(({ value }) => ({ value, times: 1 }))
  return { text: builder.rule(hint, `"{" ${text}`), own, needs }
}

const braces = 2

/** Where more properties are wanted than can be told apart, as many as there are. */
function linkFewer({ builder, relax }: Context, parts: readonly Part[], chain: Chain): string {
  const text = linkProperties(builder, { ...chain, min: 0 })
  const [found] = eachKeyword(parts, 'minProperties')
  if (found === undefined || text === null) throw impossible(parts)
  relax(found.part, 'minProperties', 'so many properties cannot be generated')
  return text
}

/** The bounds on the number of properties, left out where they hold by themselves. */
function propertyCount(
  { relax }: Context,
  parts: readonly Part[],
  { properties, hasExtra }: { properties: readonly Property[]; hasExtra: boolean },
): { min: number; max: number } {
  const required = properties.filter(({ isRequired }) => isRequired).length
  const min = sizeMin(parts, 'minProperties')
  const max = sizeMax(parts, 'maxProperties')
  const needed = min <= required ? 0 : min
  if (!hasExtra && max >= properties.length) return { min: needed, max: Infinity }
  const isTooMany = max !== Infinity && (max > repetitionMax || max * properties.length > repetitionProductMax)
  if (isTooMany) {
    for (const { part } of eachKeyword(parts, 'maxProperties'))
      relax(part, 'maxProperties', 'so many properties cannot be counted')
  }
  if (needed * properties.length > repetitionProductMax || needed > repetitionMax) {
    throw faultOf(parts, 'minProperties', 'so many properties cannot be counted')
  }
  return { min: needed, max: isTooMany ? Infinity : max }
}
