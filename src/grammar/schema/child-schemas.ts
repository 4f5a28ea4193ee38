import { faultAt, keyword, listed, type Part, subschemas, toPart } from './schema-part.ts'

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
    ...['anyOf', 'oneOf', 'allOf'].flatMap((name) => inPlace(part, name)),
    ...['properties', 'patternProperties'].flatMap((name) => subschemas(part, name).map(([, child]) => once(child))),
    ...['additionalProperties', 'propertyNames'].flatMap((name) => single(part, name, 'maxProperties')),
    ...['items', 'additionalItems'].flatMap((name) => single(part, name, 'maxItems')),
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
