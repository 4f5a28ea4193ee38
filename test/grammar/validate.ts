// A small JSON Schema validator, written from the standard and apart from the
// compiler, for the keywords the compiler supports. Patterns run on the
// platform's own expressions, with the flag `u`.

import { isExactMultiple } from './is-exact-multiple.ts'

type Schema = Readonly<Record<string, unknown>> | boolean

/** The first thing that is wrong with a value, or null. */
export function validate(root: Schema, value: unknown, schema: Schema = root): string | null {
  if (schema === true) return null
  if (schema === false) return 'nothing is allowed here'
  for (const [name, check] of Object.entries(checks)) {
    if (!Object.hasOwn(schema, name)) continue
    const fault = check({ root, schema, value, expected: schema[name] })
    if (fault !== null) return `${name}: ${fault}`
  }
  return null
}

type Check = (given: {
  root: Schema
  schema: Record<string, unknown>
  value: unknown
  expected: unknown
}) => string | null

const checks: Record<string, Check> = {
  $ref: ({ root, value, expected }) => validate(root, value, resolve(root, String(expected))),
  type: ({ schema, value, expected }) => {
    if (schema['nullable'] === true && value === null) return null
    const types = Array.isArray(expected) ? expected : [expected]
    return types.some((type) => hasType(value, String(type))) ? null : `not ${types.join()}`
  },
  enum: ({ value, expected }) => ((expected as unknown[]).some((one) => isSame(one, value)) ? null : 'not listed'),
  const: ({ value, expected }) => (isSame(value, expected) ? null : 'another value'),
  allOf: ({ root, value, expected }) =>
    (expected as Schema[]).map((one) => validate(root, value, one)).find((fault) => fault !== null) ?? null,
  anyOf: ({ root, value, expected }) =>
    (expected as Schema[]).some((one) => validate(root, value, one) === null) ? null : 'no branch holds',
  oneOf: ({ root, value, expected }) => {
    const holding = (expected as Schema[]).filter((one) => validate(root, value, one) === null)
    return holding.length === 1 ? null : `${holding.length} branches hold`
  },
  not: ({ root, value, expected }) => (validate(root, value, expected as Schema) === null ? 'holds' : null),
  minimum: numeric((value, bound) => value >= bound),
  maximum: numeric((value, bound) => value <= bound),
  exclusiveMinimum: numeric((value, bound) => value > bound),
  exclusiveMaximum: numeric((value, bound) => value < bound),
  multipleOf: numeric(isExactMultiple),
  minLength: text((value, bound) => Array.from(value).length >= Number(bound)),
  maxLength: text((value, bound) => Array.from(value).length <= Number(bound)),
  pattern: text((value, pattern) => new RegExp(String(pattern), 'u').test(value)),
  format: text((value, name) => isOfFormat(value, String(name))),
  minItems: ({ value, expected }) => (!Array.isArray(value) || value.length >= Number(expected) ? null : 'too few'),
  maxItems: ({ value, expected }) => (!Array.isArray(value) || value.length <= Number(expected) ? null : 'too many'),
  prefixItems: ({ root, value, expected }) => eachItem(root, value, (index) => (expected as Schema[])[index] ?? true),
  items: ({ root, schema, value, expected }) => {
    if (Array.isArray(expected)) {
      return eachItem(
        root,
        value,
        (index) => (expected as Schema[])[index] ?? (schema['additionalItems'] as Schema) ?? true,
      )
    }
    const first = (schema['prefixItems'] as unknown[] | undefined)?.length ?? 0
    return eachItem(root, value, (index) => (index < first ? true : (expected as Schema)))
  },
  uniqueItems: ({ value }) => {
    if (!Array.isArray(value)) return null
    return value.some((one, index) => value.slice(index + 1).some((other) => isSame(one, other))) ? 'not unique' : null
  },
  required: ({ value, expected }) => {
    if (!isObject(value) || !Array.isArray(expected)) return null
    const missing = expected.find((name) => !Object.hasOwn(value, name))
    return missing === undefined ? null : `lacks ${String(missing)}`
  },
  minProperties: ({ value, expected }) =>
    !isObject(value) || Object.keys(value).length >= Number(expected) ? null : 'too few',
  maxProperties: ({ value, expected }) =>
    !isObject(value) || Object.keys(value).length <= Number(expected) ? null : 'too many',
  propertyNames: ({ root, value, expected }) => {
    const names = isObject(value) ? Object.keys(value) : []
    return names.map((name) => validate(root, name, expected as Schema)).find((fault) => fault !== null) ?? null
  },
  properties: propertyCheck,
  patternProperties: propertyCheck,
  additionalProperties: propertyCheck,
}

function propertyCheck({ root, schema, value }: Parameters<Check>[0]): string | null {
  if (!isObject(value)) return null
  const declared = (schema['properties'] ?? {}) as Record<string, Schema>
  const patterns = Object.entries((schema['patternProperties'] ?? {}) as Record<string, Schema>)
  for (const [name, inner] of Object.entries(value)) {
    const own = Object.hasOwn(declared, name) ? [declared[name] ?? true] : []
    const matching = patterns.filter(([pattern]) => new RegExp(pattern, 'u').test(name)).map(([, one]) => one)
    const found = [...own, ...matching]
    const all = found.length > 0 ? found : [(schema['additionalProperties'] ?? true) as Schema]
    for (const one of all) {
      const fault = validate(root, inner, one)
      if (fault !== null) return `${name}: ${fault}`
    }
  }
  return null
}

function eachItem(root: Schema, value: unknown, schemaAt: (index: number) => Schema): string | null {
  if (!Array.isArray(value)) return null
  return value.map((item, index) => validate(root, item, schemaAt(index))).find((fault) => fault !== null) ?? null
}

function numeric(holds: (value: number, expected: number) => boolean): Check {
  return ({ schema, value, expected }) => {
    if (typeof value !== 'number' || typeof expected !== 'number') return null
    const isStrict = schema['exclusiveMinimum'] === true || schema['exclusiveMaximum'] === true
    if (isStrict && value === expected) return 'on the bound'
    return holds(value, expected) ? null : `${value} beside ${expected}`
  }
}

function text(holds: (value: string, expected: unknown) => boolean): Check {
  return ({ value, expected }) => (typeof value !== 'string' || holds(value, expected) ? null : JSON.stringify(value))
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isObject(value)
    case 'integer':
      return Number.isInteger(value)
    case 'number':
      return Number.isFinite(value)
    default:
      return typeof value === type
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isSame(left: unknown, right: unknown): boolean {
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => isSame(item, right[index]))
  }
  if (!isObject(left) || !isObject(right)) return left === right
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isSame(left[name], right[name]))
  )
}

function resolve(root: Schema, reference: string): Schema {
  const segments = reference.split('/').slice(1)
  const names = segments.map((segment) => decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~'))
  return names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], root) as Schema
}

function isOfFormat(value: string, format: string): boolean {
  switch (format) {
    case 'date':
      return isDate(value)
    case 'time':
      return isTime(value)
    case 'date-time': {
      const [date = '', time = ''] = value.split('T')
      return isDate(date) && isTime(time) && !Number.isNaN(Date.parse(value))
    }
    case 'duration':
      return /^P(?!$)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?$/.test(value)
    case 'email': {
      const [local = '', domain = '', ...more] = value.split('@')
      return (
        more.length === 0 && /^[^.\s](?!.*\.\.).*[^.]$|^[^.\s]$/.test(local) && local.length <= 64 && isHostname(domain)
      )
    }
    case 'hostname':
      return isHostname(value)
    case 'ipv4':
      return (
        value.split('.').length === 4 &&
        value.split('.').every((part) => String(Number(part)) === part && Number(part) < 256)
      )
    case 'ipv6':
      return URL.canParse(`http://[${value}]/`)
    case 'uuid':
      return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)
    default:
      return true
  }
}

function isDate(value: string): boolean {
  const [year = 0, month = 0, day = 0] = value.split('-').map(Number)
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return /^\d{4}-\d\d-\d\d$/.test(value) && date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

function isTime(value: string): boolean {
  const match = /^(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-](\d\d):(\d\d))$/.exec(value)
  if (match === null) return false
  const [, hour, minute, second, , , offsetHour = '0', offsetMinute = '0'] = match
  return (
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60 &&
    Number(offsetHour) < 24 &&
    Number(offsetMinute) < 60
  )
}

function isHostname(value: string): boolean {
  const labels = value.split('.')
  return value.length <= 253 && labels.every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i.test(label))
}
