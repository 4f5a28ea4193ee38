// Schemas that some value satisfies and that are made only of what a strict schema may say,
// so that each must be accepted and each answer that ends must be valid.

import type { Random } from '../random.ts'

export type Schema = Readonly<Record<string, unknown>>

/** Names that a grammar, an escape or a prototype could trip over. */
const propertyNames = ['id', 'name', 'na', 'größe', '日本', '🙂 key', 'a"b', 'x\\y', 'tab\t', '', '__proto__']
const moreNames = ['constructor', 'toString', '$ref', 'type', 'properties', 'with space', '<tool_call>', 'Z-1', '🏳️‍🌈']
const texts = [
  'red',
  'green',
  'naïve',
  'b"\n',
  '日本',
  '🙂',
  '',
  '</tool_call>',
  '\u007f',
  '{"a":1}',
  '\\',
  '<|im_end|>',
]
const patterns = [
  '^[a-z]{2,5}$',
  '^x',
  'end$',
  '\\d+',
  '^(?:red|green)(?:-dark)?$',
  '^[^"\\\\]*$',
  '^.{0,12}$',
  '(ab|a)*c',
  '^[\\w.+-]+@x$',
  '^\\s?\\S+$',
  '^[\\u00e0-\\u00ff]{1,3}$',
  '^(?:\\d{3}-){2}\\d{4}$',
  '^[A-Z][a-z]*(?: [A-Z][a-z]*){0,2}$',
]
const formats = ['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']
/** Where numbers stop being exact. */
const edge = 2 ** 53

export function randomObjectSchema(random: Random): Schema {
  const depth = random.integer(1, 3)
  const root = random.chance(0.1) ? merged(random, depth) : object(random, depth)
  return withDefinitions(random, root)
}

/** An answer may be any value; most schemas in use are objects. */
export function randomOutputSchema(random: Random): Schema {
  return random.chance(0.8) ? randomObjectSchema(random) : withDefinitions(random, anySchema(random, 2))
}

function withDefinitions(random: Random, root: Schema): Schema {
  const children = { type: 'array', items: { $ref: '#/$defs/tree' }, maxItems: random.integer(0, 2) }
  const next = { anyOf: [{ $ref: '#/$defs/list' }, { type: 'null' }] }
  const label = random.pick([{ type: 'string', maxLength: 12 }, { type: 'integer' }, { enum: ['leaf', 'node'] }])
  return {
    ...root,
    $defs: {
      tree: { type: 'object', properties: { label, children }, required: ['label'], additionalProperties: false },
      list: { type: 'object', properties: { value: label, next }, required: ['value', 'next'] },
    },
  }
}

function anySchema(random: Random, depth: number): Schema {
  const makers = depth > 0 ? [...leaves, ...leaves, ...branches] : leaves
  return random.pick(makers)(random, depth)
}

type Make = (random: Random, depth: number) => Schema

const leaves: readonly Make[] = [
  (random) => ({ type: 'string', ...some(random, { description: 'A text.', minLength: random.integer(0, 3) }) }),
  (random) => ({ type: 'string', maxLength: random.integer(0, 30) }),
  (random) => ({ type: 'string', pattern: random.pick(patterns) }),
  (random) => ({ type: 'string', format: random.pick(formats) }),
  (random) => ({ enum: [...new Set([random.pick(texts), random.pick(texts), random.pick(texts)])] }),
  (random) => ({ type: 'string', enum: [...new Set([random.pick(texts), random.pick(texts)])] }),
  (random) => ({ const: random.pick([null, true, 0, -1.5, 1e21, 'a"b', [1, 'x'], { a: 1, 日: null }]) }),
  (random) => ({ type: 'integer', ...integerBounds(random) }),
  (random) => ({ type: 'number', ...numberBounds(random) }),
  (random) => ({ type: random.pick(['boolean', 'null', ['string', 'null'], ['integer', 'boolean'], 'number']) }),
  () => ({ $ref: '#/$defs/tree' }),
  () => ({ $ref: '#/$defs/list' }),
]

const branches: readonly Make[] = [
  object,
  object,
  map,
  (random, depth) => {
    const minItems = random.integer(0, 2)
    const bounds = some(random, { minItems, maxItems: minItems + random.integer(0, 3) })
    return { type: 'array', items: anySchema(random, depth - 1), ...bounds }
  },
  (random, depth) => ({
    type: 'array',
    prefixItems: [anySchema(random, depth - 1), anySchema(random, 0)],
    items: random.pick([{ type: 'boolean' }, false]),
    minItems: random.integer(0, 2),
  }),
  (random, depth) => ({ anyOf: [anySchema(random, depth - 1), anySchema(random, depth - 1), { type: 'null' }] }),
  (random, depth) => ({ oneOf: [variant('a', random, depth), variant('b', random, depth)] }),
  merged,
]

function object(random: Random, depth: number): Schema {
  const names = [...propertyNames, ...moreNames].filter(() => random.chance(0.2))
  return {
    type: 'object',
    properties: toProperties(names.map((name) => [name, anySchema(random, depth - 1)])),
    required: names.filter(() => random.chance(0.6)),
    ...some(random, { additionalProperties: random.chance(0.7) ? false : { type: 'integer' }, title: 'Ünit' }),
  }
}

/** A plain assignment would set a prototype instead of a property. */
function toProperties(entries: readonly (readonly [string, Schema])[]): Schema {
  return Object.fromEntries(entries)
}

function map(random: Random, depth: number): Schema {
  const names = random.pick([{ pattern: '^[a-z]{1,8}$' }, { enum: ['en', 'fr', '日'] }, { maxLength: 10 }])
  return {
    type: 'object',
    additionalProperties: anySchema(random, depth - 1),
    ...some(random, { propertyNames: names }),
  }
}

function variant(kind: string, random: Random, depth: number): Schema {
  const properties = { kind: { const: kind }, value: anySchema(random, depth - 1) }
  return { type: 'object', properties, required: ['kind', 'value'], additionalProperties: false }
}

function merged(random: Random, depth: number): Schema {
  const one = { type: 'object', properties: { left: anySchema(random, depth - 1) }, required: ['left'] }
  const other = { type: 'object', properties: { right: anySchema(random, 0) } }
  return { type: 'object', allOf: [one, other] }
}

function integerBounds(random: Random): Schema {
  const low = random.integer(-1_000, 1_000)
  return random.pick([
    {},
    { minimum: low, maximum: low + random.integer(0, 5_000) },
    { exclusiveMinimum: low, exclusiveMaximum: low + 2 },
    { minimum: -edge, maximum: edge },
    { minimum: edge - 2, maximum: edge },
    { minimum: -edge, exclusiveMaximum: -edge + 3 },
    { minimum: 0, maximum: 10_000, multipleOf: random.pick([1, 10, 100]) },
  ])
}

function numberBounds(random: Random): Schema {
  const low = random.integer(-2_000, 2_000)
  const divisor = random.pick([1, 8, 1_000])
  return random.pick([
    {},
    { minimum: low / divisor, maximum: (low + random.integer(0, 300)) / divisor },
    { exclusiveMinimum: low / divisor, maximum: (low + 1) / divisor },
    { minimum: -edge, maximum: edge },
    { exclusiveMinimum: 0, exclusiveMaximum: 1 },
    { minimum: -5, maximum: 5, multipleOf: 0.01 },
  ])
}

/** Each field with one chance in two. */
function some(random: Random, fields: Schema): Schema {
  return Object.fromEntries(Object.entries(fields).filter(() => random.chance(0.5)))
}
