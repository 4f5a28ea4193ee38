// An object is written as a chain with a link for each property, in the order of
// the schema:
//
//     link(i, n) = property(i) link(i + 1, n + 1) | link(i + 1, n)
//     link(last + 1, n) = extra properties "}"
//
// `n` counts the properties so far, as far as it matters: whether a comma is due,
// and for `minProperties` and `maxProperties`. The size is the product of the two
// and not, as with a list of combinations, a power of the number of properties.

import { quote } from '../lib/gbnf.ts'
import type { Body, Context, ObjectPart } from './context.ts'

import { anyJsonObject, comma } from './json-rules.ts'
import {
  extraRule,
  isUnrestricted,
  knownNames,
  isClosed,
  knownProperties,
  type Property,
  readNames,
  readObjectParts,
} from './object-properties.ts'
import { repetitionMax, repetitionProductMax } from './schema/schema-limits.ts'
import { eachKeyword, faultOf, impossible, type Part, sizeMax, sizeMin } from './schema/schema-part.ts'
import type { GrammarBuilder } from './grammar-builder.ts'
import { repeated } from './repetition.ts'

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
    const key = keyLiteral(name)
    const value = context.value(inner, name)
    return { rule: builder.rule(name, `${key} " "? ${value}`), isRequired, value, length: name.length }
  })
  const text =
    linkProperties(builder, { members, extra, ...size }) ?? linkFewer(context, objects, { members, extra, ...size })
  const required = members.filter(({ isRequired }) => isRequired)
  // Quotes, a colon and mostly a comma stand around a name.
  const own = required.reduce((sum, { length }) => sum + length + 4, braces)
  const needs = required.map(({ value }) => ({ value, times: 1 }))
  return { text: builder.rule(hint, `"{" ${text}`), own, needs }
}

const braces = 2

function keyLiteral(name: string): string {
  // Hardly any name has something that is to be escaped, and looking for that twice takes a while.
  return /^[\w$@./ -]*$/.test(name) ? String.raw`"\"${name}\":"` : quote(`${JSON.stringify(name)}:`)
}

/** Asks for as many properties as there are, where `minProperties` asks for more than can be told apart. */
function linkFewer({ builder, relax }: Context, objects: readonly ObjectPart[], chain: Chain): string {
  const parts = objects.map(({ part }) => part)
  const text = linkProperties(builder, { ...chain, min: 0 })
  const [found] = eachKeyword(parts, 'minProperties')
  const isTooFew = chain.members.length < chain.min && objects.some(isClosed)
  if (found === undefined || text === null || isTooFew) throw impossible(parts)
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

export type Chain = {
  readonly members: readonly { readonly rule: string; readonly isRequired: boolean }[]
  /** The rule of a property that may follow any number of times; null for none. */
  readonly extra: string | null
  readonly min: number
  readonly max: number
}

/** Texts longer than this become rules of their own before they are used twice. */
const inlineCharactersMax = 32

/** The text that leads from a link to the end, by the number of properties before it; null where none does. */
type Links = ReadonlyMap<number, string | null>

/** What follows the `{` of an object; null where the bounds leave nothing. */
export function linkProperties(builder: GrammarBuilder, chain: Chain): string | null {
  const counts = reachableCounts(chain)
  let links: Links = new Map((counts.at(-1) ?? []).map((count) => [count, endOf(builder, chain, count)]))
  for (const [index, member] of [...chain.members.entries()].toReversed()) {
    const following = links
    links = new Map((counts[index] ?? []).map((count) => [count, linkOf(builder, chain, { member, count, following })]))
  }
  return links.get(0) ?? null
}

type Link = { readonly member: Chain['members'][number]; readonly count: number; readonly following: Links }

function linkOf(builder: GrammarBuilder, chain: Chain, { member, count, following }: Link): string | null {
  const next = count < chain.max ? (following.get(nextCount(chain, count)) ?? null) : null
  const skip = member.isRequired ? null : (following.get(count) ?? null)
  if (next === null) return skip
  const taken = `${count === 0 ? '' : `${comma} `}${member.rule}`
  if (skip === null) return `${taken} ${next}`
  const hint = 'rest'
  return builder.rule(hint, `${taken} ${short(builder, hint, next)} | ${short(builder, hint, skip)}`)
}

function short(builder: GrammarBuilder, hint: string, text: string): string {
  return text.length > inlineCharactersMax ? builder.rule(hint, text) : text
}

/** Counts above what any bound asks about are one and the same. */
function nextCount({ min, max }: Chain, count: number): number {
  return Math.min(count + 1, Math.max(1, min, Number.isFinite(max) ? max : 0))
}

/** How many properties may stand before each link of the chain. */
function reachableCounts(chain: Chain): number[][] {
  const reachable: number[][] = [[0]]
  for (const { isRequired } of chain.members) {
    const before = reachable.at(-1) ?? []
    const after = before.filter((count) => count < chain.max).map((count) => nextCount(chain, count))
    reachable.push([...new Set(isRequired ? after : [...before, ...after])])
  }
  return reachable
}

function endOf(builder: GrammarBuilder, { extra, min, max }: Chain, count: number): string | null {
  const needed = min - count
  const room = max - count
  const close = '"}"'
  if (extra === null || room <= 0) return needed > 0 ? null : close
  // Two extra properties may have the same name and then count as one.
  if (needed > 1) return null
  const next = builder.rule('next', `${comma} ${extra}`)
  if (count > 0) return `${repeated(next, Math.max(0, needed), room)} ${close}`
  const some = `${extra} ${repeated(next, 0, room - 1)}`
  return `${needed > 0 ? some : `(${some})?`} ${close}`
}
