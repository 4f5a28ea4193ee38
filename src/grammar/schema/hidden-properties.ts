import type { SchemaPath } from '../schema-fault.ts'
import { isSchemaObject, keyword, type Part, type SchemaObject } from './schema-part.ts'

/** One object for all, so that it counts as one schema wherever it stands. */
const anything: SchemaObject = { unevaluatedProperties: true }

/** Stands for a schema that cannot be looked at: it may describe any value, and properties named nowhere else. */
export function unknownPart(path: SchemaPath): Part {
  return { schema: anything, path, pending: [] }
}

/**
 * Whether a keyword that is left out may describe properties of its own.
 *
 * Where one does, a grammar that kept to the properties it knows would forbid what the schema asks for.
 */
export function hidesProperties({ schema }: Part): boolean {
  const rest = keyword(schema, 'unevaluatedProperties')
  if (rest !== undefined && rest !== false) return true
  if (['$dynamicRef', '$recursiveRef'].some((name) => keyword(schema, name) !== undefined)) return true
  const conditional = keyword(schema, 'if') === undefined ? [] : ['then', 'else'].map((name) => keyword(schema, name))
  const dependent = ['dependentSchemas', 'dependencies'].flatMap((name) => {
    const schemas = keyword(schema, name)
    return isSchemaObject(schemas) ? Object.values(schemas) : []
  })
  return [...conditional, ...dependent].some(
    (inner) => isSchemaObject(inner) && Object.keys(inner).some((name) => name !== 'required'),
  )
}
