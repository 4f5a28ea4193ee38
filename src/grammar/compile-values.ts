import { quote } from '../lib/gbnf.ts'
import type { Body, Context } from './context.ts'
import { numberBounds } from './number-bounds.ts'
import {
  eachKeyword,
  faultAt,
  faultOf,
  impossible,
  isSchemaObject,
  keyword,
  type Part,
  type SchemaObject,
} from './schema/schema-part.ts'
import { type JsonType, typesOf } from './schema/schema-types.ts'
import { isMultiple } from './multiples.ts'
import { satisfies, stringConstraint, type StringConstraint } from './compile-string.ts'

/** Keywords that a listed value is not checked against. */
const uncheckedBeside = [
  'properties',
  'required',
  'additionalProperties',
  'patternProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'items',
  'prefixItems',
  'minItems',
  'maxItems',
  'uniqueItems',
] as const

/** Whether parts list the values they allow. */
export function hasListedValues(parts: readonly Part[]): boolean {
  return parts.some(({ schema }) => keyword(schema, 'enum') !== undefined || hasConstant(schema))
}

/** A constant may be null, which for other keywords means absent. */
function hasConstant(schema: Part['schema']): boolean {
  return typeof schema !== 'boolean' && Object.hasOwn(schema, 'const')
}

/** The JSON texts of the values that satisfy every part, in the order first listed, each once. */
export function listedValues(context: Context, parts: readonly Part[]): string[] {
  const [first, ...others] = parts.flatMap((part) => listsOf(part))
  if (first === undefined) return []
  context.spend(first.length)
  const known = others.map((list) => new Set(list.map((value) => JSON.stringify(ordered(value)))))
  const chosen = new Map<string, string>()
  const fits = createFits(context, parts)
  for (const value of first) {
    const identity = JSON.stringify(ordered(value))
    if (known.every((list) => list.has(identity)) && fits(value)) chosen.set(identity, JSON.stringify(value))
  }
  return [...chosen.values()]
}

/**
 * Whether a value may satisfy parts; true where it is not looked into.
 *
 * A `format` does not count: to many validators it is a remark.
 */
export function mayBe(context: Context, parts: readonly Part[], value: unknown): boolean {
  const strict = parts.map((part) =>
    isSchemaObject(part.schema) ? { ...part, schema: withoutFormat(part.schema) } : part,
  )
  if (!createFits(context, strict)(value)) return false
  const identity = JSON.stringify(ordered(value))
  return parts.flatMap(listsOf).every((list) => list.some((one) => JSON.stringify(ordered(one)) === identity))
}

function withoutFormat({ format: _, ...schema }: SchemaObject): SchemaObject {
  return schema
}

export function compileValues(context: Context, parts: readonly Part[], hint: string): Body {
  const [first, ...others] = parts
  if (first === undefined || others.length > 0) return compileAnew(context, parts, hint)
  const known = context.listedBodies.get(first.schema) ?? compileAnew(context, parts, hint)
  context.listedBodies.set(first.schema, known)
  return known
}

function compileAnew(context: Context, parts: readonly Part[], hint: string): Body {
  relaxUnchecked(context, parts)
  const texts = listedValues(context, parts)
  if (texts.length === 0) throw impossible(parts)
  for (const text of texts) {
    if (/\\ud[89a-f]/.test(text)) throw faultOf(parts, 'enum', 'a value is not well-formed Unicode')
  }
  const text = context.builder.rule(hint, texts.map(quote).join(' | '))
  return { text, own: Math.min(...texts.map(({ length }) => length)), needs: [] }
}

function listsOf(part: Part): unknown[][] {
  const lists: unknown[][] = []
  const values = keyword(part.schema, 'enum')
  if (values !== undefined) {
    if (!Array.isArray(values) || values.length === 0) throw faultAt(part, 'enum', 'expected at least one value')
    if (values.some(hasUncertainNumber)) throw faultAt(part, 'enum', uncertainNumber)
    lists.push(values)
  }
  if (typeof part.schema !== 'boolean' && hasConstant(part.schema)) {
    if (hasUncertainNumber(part.schema['const'])) throw faultAt(part, 'const', uncertainNumber)
    lists.push([part.schema['const']])
  }
  return lists
}

const uncertainNumber = 'a whole number beyond 2^53 may have been rounded; use a string'

/** Larger ones are written with an exponent, which is how they were written before as well. */
const writtenOutMax = 1e21

/** Of such a number nobody can say which one was written: parsing has made the nearest double of it. */
function hasUncertainNumber(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasUncertainNumber)
  if (typeof value !== 'number') return false
  const size = Math.abs(value)
  return size === Infinity || (size > Number.MAX_SAFE_INTEGER && size < writtenOutMax)
}

/** A copy with every object's keys in one order, so that equal values have equal texts. */
export function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, ordered(inner)]))
}

/** Tells of values whether they keep to the keywords of parts, which are read once for all of them. */
function createFits(context: Context, parts: readonly Part[]): (value: unknown) => boolean {
  const types = typesOf(parts.filter((part) => keyword(part.schema, 'type') !== undefined))
  // Reading a pattern counts as work for each value, as comparing it does.
  const isPatterned = ['pattern', 'format'].some((name) => eachKeyword(parts, name).length > 0)
  let lengths: StringConstraint | null = null
  return (value) => {
    if (types !== null && !typesOfValue(value).some((type) => types.has(type))) return false
    if (typeof value === 'string') {
      const constraint = (isPatterned ? null : lengths) ?? stringConstraint(context, parts)
      lengths = constraint
      return satisfies(context, value, constraint)
    }
    if (typeof value === 'number') return isWithin(parts, value) && isMultiple(parts, value)
    return true
  }
}

export function typesOfValue(value: unknown): JsonType[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number']
  if (typeof value === 'string') return ['string']
  return [typeof value === 'boolean' ? 'boolean' : 'object']
}

function isWithin(parts: readonly Part[], value: number): boolean {
  const { low, high } = numberBounds(parts)
  const isAbove = low === null || value > low.value || (value === low.value && !low.isExclusive)
  const isBelow = high === null || value < high.value || (value === high.value && !high.isExclusive)
  return isAbove && isBelow
}

/** Keywords beside listed values that would have to be checked for each. */
function relaxUnchecked({ relax }: Context, parts: readonly Part[]): void {
  for (const name of uncheckedBeside) {
    for (const { part } of eachKeyword(parts, name)) {
      relax(part, name, `"${name}" beside "enum" or "const" is not supported`)
    }
  }
}
