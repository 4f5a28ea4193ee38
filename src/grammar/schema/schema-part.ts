import { ImpossibleSchema, SchemaFault, type SchemaPath } from '../schema-fault.ts'
import { expandedNodesMax } from './schema-limits.ts'

export type SchemaObject = Readonly<Record<string, unknown>>
export type Choice = 'anyOf' | 'oneOf'

/**
 * One of the schemas a value must satisfy at once, `allOf` and `$ref` already followed.
 *
 * A value is described by a list of parts; each keyword is read from all of them.
 */
export type Part = {
  readonly schema: SchemaObject | boolean
  readonly path: SchemaPath
  /** The choices that are not made yet; a branch of a made one is a part of its own. */
  readonly pending: readonly Choice[]
}

export function isSchemaObject(value: unknown): value is SchemaObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A keyword's value; undefined where absent. A null is a field left empty by a serializer, and counts as absent. */
export function keyword(schema: SchemaObject | boolean, name: string): unknown {
  if (typeof schema === 'boolean') return undefined
  const value = schema[name]
  return value === undefined || value === null || !Object.hasOwn(schema, name) ? undefined : value
}

export function toPart(schema: unknown, path: SchemaPath): Part {
  if (schema === true || schema === false) return { schema, path, pending: [] }
  if (!isSchemaObject(schema)) throw new SchemaFault(path, null, 'a schema must be an object, true or false')
  if (isImpossible(schema)) return { schema: false, path, pending: [] }
  return { schema, path, pending: pendingChoices(schema) }
}

const noChoice: readonly Choice[] = []

/** A part is made at every look at a schema, and few have a choice. */
function pendingChoices(schema: SchemaObject): readonly Choice[] {
  const hasAny = keyword(schema, 'anyOf') !== undefined
  const hasOne = keyword(schema, 'oneOf') !== undefined
  if (!hasAny && !hasOne) return noChoice
  return [...(hasAny ? (['anyOf'] as const) : []), ...(hasOne ? (['oneOf'] as const) : [])]
}

/** `{"not": {}}`, which is how zod writes a value that cannot be. */
function isImpossible(schema: SchemaObject): boolean {
  const not = keyword(schema, 'not')
  return not === true || (isSchemaObject(not) && Object.keys(not).length === 0)
}

/** A keyword in each of the parts that have it. */
export function eachKeyword(parts: readonly Part[], name: string): { part: Part; value: unknown }[] {
  const found: { part: Part; value: unknown }[] = []
  for (const part of parts) {
    const value = keyword(part.schema, name)
    if (value !== undefined) found.push({ part, value })
  }
  return found
}

export function faultAt(part: Part, name: string, message: string): SchemaFault {
  return new SchemaFault([...part.path, name], name, message)
}

/** The fault of a keyword that some part has. */
export function faultOf(parts: readonly Part[], name: string, message: string): SchemaFault {
  const owner = parts.find((part) => keyword(part.schema, name) !== undefined)
  return owner === undefined ? impossible(parts) : faultAt(owner, name, message)
}

/** Only for what no value satisfies: one that is merely never generated may still be valid for a branch of a `oneOf`. */
export function impossible(parts: readonly Part[]): ImpossibleSchema {
  return new ImpossibleSchema(innermostPath(parts))
}

/** Where what is said of a value stands deepest, such as in the branch of a choice beside what holds for all of them. */
export function innermostPath(parts: readonly Part[]): SchemaPath {
  return parts.reduce<SchemaPath>((deepest, { path }) => (path.length > deepest.length ? path : deepest), [])
}

export function numbers(parts: readonly Part[], name: string): number[] {
  return eachKeyword(parts, name).map(({ part, value }) => {
    if (typeof value === 'number' && Number.isFinite(value)) return value
    throw faultAt(part, name, 'expected a number')
  })
}

/** The greatest of a lower limit on a size; 0 without one. */
export function sizeMin(parts: readonly Part[], name: string): number {
  return Math.max(0, ...sizes(parts, name))
}

/** The smallest of an upper limit on a size; infinite without one. */
export function sizeMax(parts: readonly Part[], name: string): number {
  return Math.min(Infinity, ...sizes(parts, name))
}

function sizes(parts: readonly Part[], name: string): number[] {
  return eachKeyword(parts, name).map(({ part, value }) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value
    throw faultAt(part, name, 'expected a whole number of at least 0')
  })
}

export function stringsOf(part: Part, name: string): readonly string[] {
  const value = keyword(part.schema, name)
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value
  throw faultAt(part, name, 'expected a list of strings')
}

/** The subschemas kept by name under a keyword, in the order written. */
export function subschemas(part: Part, name: string): [string, Part][] {
  const value = keyword(part.schema, name)
  if (value === undefined) return []
  if (!isSchemaObject(value)) throw faultAt(part, name, 'expected an object of schemas')
  return Object.keys(value).map((key) => [key, toPart(value[key], [...part.path, name, key])])
}

/** The subschemas listed under a keyword. */
export function listed(part: Part, name: string): Part[] {
  const value = keyword(part.schema, name)
  if (!Array.isArray(value)) throw faultAt(part, name, 'expected a list of schemas')
  if (value.length > expandedNodesMax) throw faultAt(part, name, `more than ${expandedNodesMax} schemas`)
  return value.map((item, index) => toPart(item, [...part.path, name, index]))
}
