import type { JsonSchema } from '../core/generation.ts'

/**
 * A tool's schema in the plainest words of JSON Schema, for templates that fail on others.
 *
 * A list of types becomes the first that is not null. The answer is still held to the schema as it was given.
 */
export function plainSchema(schema: JsonSchema): JsonSchema {
  return plain(schema) as JsonSchema
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value as Record<string, unknown>)
  return Object.fromEntries(members.map(([key, member]) => [key, key === 'type' ? firstType(member) : plain(member)]))
}

/** A property may be called `type` as well, and then holds a schema. */
function firstType(type: unknown): unknown {
  if (!Array.isArray(type)) return plain(type)
  return (type as readonly unknown[]).find((one) => one !== 'null') ?? type[0]
}

/** Templates walk the properties of a tool without asking whether there are any. */
export function withProperties(schema: JsonSchema): JsonSchema {
  return schema['properties'] === undefined ? { type: 'object', ...schema, properties: {} } : schema
}
