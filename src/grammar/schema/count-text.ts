import { SchemaFault } from '../schema-fault.ts'
import { enumValuesMax, propertiesMax, textCharactersMax } from './schema-limits.ts'
import { eachKeyword, faultAt, isSchemaObject, keyword, type Part } from './schema-part.ts'

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
    for (const name of ['properties', 'patternProperties']) {
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
