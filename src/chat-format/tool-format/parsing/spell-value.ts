import type { JsonSchema } from '../../../core/generation.ts'

/** Whether a value of this schema can only be a string, so that its text needs no second look. */
export function isStringOnly(schema: JsonSchema | null): boolean {
  if (schema === null) return false
  const { type, enum: choices, const: constant } = schema
  if (type === 'string') return true
  if (type !== undefined) return Array.isArray(type) && type.length > 0 && type.every((one) => one === 'string')
  if (Array.isArray(choices)) return choices.length > 0 && choices.every((choice) => typeof choice === 'string')
  return typeof constant === 'string'
}

/** How templates for another language spell constants, which models then imitate. */
const constants: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

/**
 * The JSON of a value that was written as bare text. What its schema allows
 * decides; without one, text that is JSON is taken as JSON, except quoted text.
 * With one that allows more than strings, the grammar has had strings quoted.
 */
export function spellValue(text: string, schema: JsonSchema | null): string {
  const written = text.trim()
  const json = Object.hasOwn(constants, written) ? (constants[written] ?? written) : written
  const asText = JSON.stringify(text)
  try {
    const value: unknown = JSON.parse(json)
    if (typeof value === 'string') return schema === null ? asText : json
    return allows(schema, jsonType(value)) ? json : allows(schema, 'string') ? asText : json
  } catch {
    return asText
  }
}

function allows(schema: JsonSchema | null, type: string): boolean {
  if (schema === null) return true
  const { type: allowed } = schema
  if (allowed === undefined) return true
  const types: readonly unknown[] = Array.isArray(allowed) ? allowed : [allowed]
  return types.includes(type) || (type === 'integer' && types.includes('number'))
}

function jsonType(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}
