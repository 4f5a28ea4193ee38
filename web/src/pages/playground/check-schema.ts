// Checks an answer against the JSON Schema that it was asked for, by the keywords that the service keeps to.

/** As far as it is looked at. */
export type Schema = {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** Says what of an answer is not as its schema has it; null where all of it is. */
export function checkAnswer(text: string, schema: Schema): string | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return 'it is not JSON'
  }
  return check(value, schema, 'the answer')
}

function check(value: unknown, schema: Schema, at: string): string | null {
  if (schema.anyOf !== undefined) {
    return schema.anyOf.some((one) => check(value, one, at) === null) ? null : `${at} is none of what is allowed`
  }
  if (schema.enum !== undefined && !schema.enum.some((one) => isSame(one, value))) return `${at} is not one of the list`
  if (schema.const !== undefined && !isSame(schema.const, value)) return `${at} is not ${JSON.stringify(schema.const)}`
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type
  if (types !== undefined && !types.some((type) => isOfType(value, type))) return `${at} is not ${types.join(' or ')}`
  if (Array.isArray(value))
    return firstOf(value.map((item, index) => check(item, schema.items ?? {}, `${at}[${index}]`)))
  return typeof value === 'object' && value !== null ? checkObject(value as Record<string, unknown>, schema, at) : null
}

function checkObject(value: Readonly<Record<string, unknown>>, schema: Schema, at: string): string | null {
  const { properties = {}, required = [], additionalProperties: others = true } = schema
  const missing = required.find((name) => !Object.hasOwn(value, name))
  if (missing !== undefined) return `${at} lacks ${missing}`
  return firstOf(
    Object.entries(value).map(([name, item]) => {
      const own = properties[name]
      if (own !== undefined) return check(item, own, `${at}.${name}`)
      if (others === false) return `${at} has ${name}, which is not allowed`
      return others === true ? null : check(item, others, `${at}.${name}`)
    }),
  )
}

function firstOf(faults: readonly (string | null)[]): string | null {
  return faults.find((fault) => fault !== null) ?? null
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
