import type { JsonSchema } from '../../core/generation.ts'

type Protect = (text: string) => string

/** Keywords of JSON Schema, and what a `type` may be: words of the format and none of the client's. */
const words: ReadonlySet<string> = new Set(
  `$ref $defs definitions type description title default enum const examples format items prefixItems properties
  required additionalProperties patternProperties propertyNames anyOf oneOf allOf not minimum maximum
  exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems uniqueItems
  minProperties maxProperties nullable deprecated readOnly writeOnly
  object array string integer number boolean null`.split(/\s+/),
)

/** Under these a key is a name that the client gave. */
const named: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions'])
/** Keywords whose member is a value and no schema. */
const values: ReadonlySet<string> = new Set(['default', 'const', 'enum', 'examples', 'required'])

/**
 * Protects a schema but for the words of the format that the template asks for: `param.type == 'string'`
 * must be answered as it would be anywhere else.
 */
export function protectSchema(schema: JsonSchema, protect: Protect, templateSource: string): JsonSchema {
  const isAskedFor = (word: string) => words.has(word) && templateSource.includes(word)
  const protectWord = (word: string) => (isAskedFor(word) ? word : protect(word))
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return protectStrings(value, protect)
    const members = (Object.entries(value) as [string, unknown][]).map(
      ([key, member]) => [protectWord(key), walkMember(key, member)] as const,
    )
    return Object.fromEntries(members)
  }
  const walkMember = (key: string, member: unknown): unknown => {
    if (key === 'type' && (typeof member === 'string' || isTexts(member))) return protectStrings(member, protectWord)
    if (values.has(key)) return protectStrings(member, protect)
    const isNamed = named.has(key) && typeof member === 'object' && member !== null && !Array.isArray(member)
    if (!isNamed) return walk(member)
    return Object.fromEntries(Object.entries(member).map(([name, one]) => [protect(name), walk(one)]))
  }
  return walk(schema) as JsonSchema
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** Protects every string in a value, the keys of objects included. */
export function protectStrings<Value>(value: Value, protect: (text: string) => string): Value
export function protectStrings(value: unknown, protect: (text: string) => string): unknown {
  if (typeof value === 'string') return protect(value)
  if (Array.isArray(value)) return value.map((item: unknown) => protectStrings(item, protect))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value) as [string, unknown][]
  // Not assigned one by one: a key named `__proto__` must stay a key.
  return Object.fromEntries(members.map(([key, member]) => [protect(key), protectStrings(member, protect)]))
}
