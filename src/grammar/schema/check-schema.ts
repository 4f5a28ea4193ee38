// Looks over a whole schema before anything is built from it, without recursion:
// a schema may be as deep and as entangled as a body of several megabytes allows.

import { checkReferences, type Definition, resolveReference } from './references.ts'
import type { Relax } from '../context.ts'
import { SchemaFault } from '../schema-fault.ts'
import {
  depthMax,
  expandedNodesMax,
  repetitionProductMax,
  enumValuesMax,
  propertiesMax,
  textCharactersMax,
} from './schema-limits.ts'
import { keyword, type Part, faultAt, listed, subschemas, toPart, eachKeyword, isSchemaObject } from './schema-part.ts'

/** Keywords that decide what is valid and that no grammar here can say. */
const unsupported = [
  'not',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'unevaluatedItems',
  'unevaluatedProperties',
  'contains',
  '$dynamicRef',
  '$recursiveRef',
] as const

const choices = ['anyOf', 'oneOf', 'allOf'] as const
const collections = ['properties', 'patternProperties'] as const
/** Keywords of one schema for many values, and those that say how many. */
const repeated = [
  ['additionalProperties', 'maxProperties'],
  ['propertyNames', 'maxProperties'],
  ['items', 'maxItems'],
  ['additionalItems', 'maxItems'],
] as const

/** Every keyword by which a schema can be refused here, or lead to others. */
const lookedAt: ReadonlySet<string> = new Set([
  ...unsupported,
  ...choices,
  ...collections,
  ...repeated.map(([name]) => name),
  'if',
  'prefixItems',
  '$ref',
  'required',
  'enum',
  'const',
  'pattern',
])

/** A schema on the list of those still to be looked at, with what its place in the definition adds. */
type Visit = ChildSchema & { readonly depth: number }

/**
 * Refuses a schema that is too large or that refers to itself without progress, and relaxes what no grammar can say.
 *
 * Only what the first part leads to is looked at: definitions that nothing refers to may say what they like.
 */
export function checkSchema(root: unknown, first: Part, relax: Relax): void {
  const definitions = new Map<unknown, Definition>()
  const textCount = createTextCount()
  const tooRepeated: Part[] = []
  const waiting = [first]
  let nodes = 0
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (definitions.has(part.schema)) continue
    const definition: Definition = { part, nodes: 0, references: [] }
    definitions.set(part.schema, definition)
    const open: Visit[] = [{ part, depth: 0, isInPlace: true, repetition: 1 }]
    for (let visit = open.pop(); visit !== undefined; visit = open.pop()) {
      nodes += 1
      definition.nodes += 1
      checkSize(visit, nodes)
      // Most schemas name a type and say what it is for.
      if (isPlain(visit.part.schema)) continue
      relaxUnsupported(visit.part, relax)
      textCount.add(visit.part)
      const target = resolveReference(root, visit.part)
      if (target instanceof SchemaFault) relax(visit.part, '$ref', target.message)
      else if (target !== null) {
        definition.references.push({ target: target.schema, isInPlace: visit.isInPlace })
        waiting.push(target)
      }
      const inner = childVisits(visit)
      if (inner.some((child) => child.repetition > repetitionProductMax)) tooRepeated.push(visit.part)
      for (const child of inner) open.push(child)
    }
  }
  checkReferences(first.schema, definitions)
  for (const part of tooRepeated) relax(part, 'maxItems', 'the repetitions inside one another come to too many')
}

function isPlain(schema: Part['schema']): boolean {
  return typeof schema === 'boolean' || !Object.keys(schema).some((name) => lookedAt.has(name))
}

function childVisits(visit: Visit): Visit[] {
  return childSchemas(visit.part).map((child) => ({
    part: child.part,
    depth: visit.depth + 1,
    isInPlace: visit.isInPlace && child.isInPlace,
    repetition: visit.repetition * child.repetition,
  }))
}

function checkSize({ part, depth }: Visit, nodes: number): void {
  if (nodes > expandedNodesMax) {
    throw new SchemaFault(part.path, null, `the schema is too large: more than ${expandedNodesMax} subschemas`)
  }
  if (depth > depthMax) {
    throw new SchemaFault(part.path, null, `the schema is nested too deep: more than ${depthMax} levels`)
  }
}

function relaxUnsupported(part: Part, relax: Relax): void {
  for (const name of unsupported) {
    if (keyword(part.schema, name) !== undefined) relax(part, name, `"${name}" is not supported`)
  }
  const isConditional = ['then', 'else'].some((name) => keyword(part.schema, name) !== undefined)
  if (isConditional && keyword(part.schema, 'if') !== undefined) relax(part, 'if', '"if" is not supported')
}

export type ChildSchema = {
  readonly part: Part
  /** Speaks about the same value as its parent, not about one inside it. */
  readonly isInPlace: boolean
  /** How many times at most the parent repeats it, where a bound says so; else 1. */
  readonly repetition: number
}

/** The subschemas of a part as written, `$ref` not followed. */
export function childSchemas(part: Part): ChildSchema[] {
  if (typeof part.schema === 'boolean') return []
  return [
    ...choices.flatMap((name) => inPlace(part, name)),
    ...collections.flatMap((name) => subschemas(part, name).map(([, child]) => once(child))),
    ...repeated.flatMap(([name, boundName]) => single(part, name, boundName)),
    ...(keyword(part.schema, 'prefixItems') === undefined ? [] : listed(part, 'prefixItems').map(once)),
  ]
}

function inPlace(part: Part, name: string): ChildSchema[] {
  if (keyword(part.schema, name) === undefined) return []
  const children = listed(part, name)
  if (children.length === 0) throw faultAt(part, name, 'expected at least one schema')
  return children.map((child) => ({ part: child, isInPlace: true, repetition: 1 }))
}

function single(part: Part, name: string, boundName: string): ChildSchema[] {
  const value = keyword(part.schema, name)
  if (value === undefined) return []
  if (Array.isArray(value)) return listed(part, name).map(once)
  const bound = keyword(part.schema, boundName)
  const repetition = typeof bound === 'number' && bound > 1 ? bound : 1
  return [{ part: toPart(value, [...part.path, name]), isInPlace: false, repetition }]
}

function once(part: Part): ChildSchema {
  return { part, isInPlace: false, repetition: 1 }
}

/** The depth a request body may have; a value checked here may not have come through one. */
const valueDepthMax = 64

/** Adds up the names and values of a schema, each part once, and throws when a limit is passed. */
export function createTextCount() {
  const counted = new Set<unknown>()
  let properties = 0
  let enumValues = 0
  let characters = 0

  function add(part: Part): void {
    if (counted.has(part.schema)) return
    counted.add(part.schema)
    addProperties(part)
    addValues(part)
    characters += patternCharacters(part)
    if (characters > textCharactersMax) {
      const message = `the schema is too large: more than ${textCharactersMax} characters of names and values`
      throw new SchemaFault(part.path, null, message)
    }
  }

  function addProperties(part: Part): void {
    for (const name of collections) {
      const value = keyword(part.schema, name)
      if (!isSchemaObject(value)) continue
      const keys = Object.keys(value)
      properties += keys.length
      characters += keys.reduce((sum, key) => sum + key.length, 0)
      if (properties > propertiesMax) throw faultAt(part, name, `more than ${propertiesMax} properties in all`)
    }
    const required = keyword(part.schema, 'required')
    if (!Array.isArray(required)) return
    if (required.length > propertiesMax) throw faultAt(part, 'required', `more than ${propertiesMax} names`)
    for (const name of required) characters += typeof name === 'string' ? name.length : 0
  }

  function addValues(part: Part): void {
    const values = keyword(part.schema, 'enum')
    if (Array.isArray(values)) {
      enumValues += values.length
      if (enumValues > enumValuesMax) throw faultAt(part, 'enum', `more than ${enumValuesMax} enum values in all`)
      characters += valueCharacters(part, 'enum', values)
    }
    const constant = keyword(part.schema, 'const')
    if (constant !== undefined) characters += valueCharacters(part, 'const', constant)
  }

  return { add }
}

function patternCharacters(part: Part): number {
  return eachKeyword([part], 'pattern').reduce(
    (sum, { value }) => sum + (typeof value === 'string' ? value.length : 0),
    0,
  )
}

/** About the length of a value's JSON text; stops counting above the limit. */
function valueCharacters(part: Part, name: string, value: unknown): number {
  let characters = 0
  const open: { value: unknown; depth: number }[] = [{ value, depth: 0 }]
  for (let item = open.pop(); item !== undefined; item = open.pop()) {
    const { value: inner, depth } = item
    if (depth > valueDepthMax) throw faultAt(part, name, `nested deeper than ${valueDepthMax} levels`)
    characters += typeof inner === 'string' ? inner.length : 1
    if (characters > textCharactersMax) break
    if (typeof inner !== 'object' || inner === null) continue
    for (const [key, child] of Object.entries(inner)) {
      if (!Array.isArray(inner)) characters += key.length
      open.push({ value: child, depth: depth + 1 })
    }
  }
  return characters
}
