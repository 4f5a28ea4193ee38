import { faultAt, keyword, type Part } from './schema-part.ts'

export const jsonTypes = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const
export type JsonType = (typeof jsonTypes)[number]

/** Keywords that speak about one type only. A schema without `type` that has one is taken to mean that type. */
const keywordsOfType = {
  object: [
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
    'propertyNames',
    'minProperties',
    'maxProperties',
  ],
  array: ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
} as const

/**
 * The types a value of these parts may have; null leaves it open.
 *
 * Where no part names a type, the keywords present imply it: fewer values than
 * the standard allows, each of them valid.
 */
export function typesOf(parts: readonly Part[]): ReadonlySet<JsonType> | null {
  let types: ReadonlySet<JsonType> | null = null
  for (const part of parts) {
    const named = namedTypes(part)
    if (named !== null) types = types === null ? named : intersect(types, named)
  }
  return types ?? impliedTypes(parts)
}

/** The types a part itself allows; null for all. */
export function namedTypes(part: Part): ReadonlySet<JsonType> | null {
  const value = keyword(part.schema, 'type')
  if (part.schema === false) return new Set()
  if (value === undefined) return null
  const only = singleTypes.get(value)
  if (only !== undefined && keyword(part.schema, 'nullable') !== true) return only
  const names: unknown[] = Array.isArray(value) ? value : [value]
  const types = new Set(names.map((name) => toType(part, name)))
  if (keyword(part.schema, 'nullable') === true) types.add('null')
  if (types.size === 0) throw faultAt(part, 'type', 'expected at least one type')
  return withoutRedundant(types)
}

/** Nearly every schema names one type. */
const singleTypes: ReadonlyMap<unknown, ReadonlySet<JsonType>> = new Map(
  jsonTypes.map((type) => [type, new Set([type])]),
)

function toType(part: Part, name: unknown): JsonType {
  const type = jsonTypes.find((known) => known === name)
  if (type !== undefined) return type
  throw faultAt(part, 'type', `expected one of ${jsonTypes.join(', ')}, or a list of these`)
}

function withoutRedundant(types: ReadonlySet<JsonType>): ReadonlySet<JsonType> {
  return types.has('number') ? new Set([...types].filter((type) => type !== 'integer')) : types
}

function intersect(left: ReadonlySet<JsonType>, right: ReadonlySet<JsonType>): ReadonlySet<JsonType> {
  const both = [...left].filter((type) => right.has(type) || (type === 'integer' && right.has('number')))
  if (left.has('number') && right.has('integer')) both.push('integer')
  return new Set(both)
}

function impliedTypes(parts: readonly Part[]): ReadonlySet<JsonType> | null {
  const types = new Set<JsonType>()
  for (const type of ['object', 'array', 'string', 'number'] as const) {
    const isImplied = keywordsOfType[type].some((name) =>
      parts.some((part) => keyword(part.schema, name) !== undefined),
    )
    if (isImplied) types.add(type)
  }
  return types.size === 0 ? null : types
}

/**
 * Whether parts visibly allow no value: one of them is false, or their types exclude each other.
 *
 * Other contradictions show when the rule is built, and are faults then.
 */
export function isImpossible(parts: readonly Part[]): boolean {
  return parts.some(({ schema }) => schema === false) || typesOf(parts)?.size === 0
}
