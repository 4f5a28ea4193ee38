import type { JsonSchema } from '../../src/core/generation.ts'
import type { Random } from './derive.ts'

/** A random schema of supported keywords; some of them contradict themselves. */
export function randomSchema(random: Random, depth = 3): JsonSchema {
  const kinds = depth > 0 ? [...leaves, ...branches] : leaves
  const make = kinds[random(kinds.length)] ?? anything
  return make(random, depth)
}

type Make = (random: Random, depth: number) => JsonSchema

const names = ['id', 'name', 'na', 'naïve', 'a"b', 'x\\y', 'tab\t', '', '__proto__', 'constructor', '42', '😀', '$ref']
const patterns = [
  '^[a-z]{2,5}$',
  '^x',
  'end$',
  '\\d+',
  '^(?:red|green)(?:-dark)?$',
  '^[^"\\\\]*$',
  '^.{0,3}$',
  '(ab|a)*c',
  '^[\\w.+-]+@x$',
  '^(?!a)[a-c]+$',
  '^\\s?\\S+$',
]
const formats = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
  'uri',
  'unheard-of',
]
const values: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e21,
  '',
  'a',
  'b"\n\u0001',
  '\u007f',
  [1, 'x'],
  { a: 1, b: null },
  [],
]

const anything: Make = () => ({})
const leaves: readonly Make[] = [
  anything,
  (random) => ({
    type: 'string',
    ...some(random, { minLength: random(4), maxLength: 4 + random(9), description: 'text' }),
  }),
  (random) => ({ type: 'string', pattern: pick(random, patterns), ...some(random, { maxLength: 5 + random(9) }) }),
  (random) => ({ type: 'string', format: pick(random, formats) }),
  (random) => ({
    type: 'integer',
    ...some(random, integerBounds(random)),
    ...some(random, { multipleOf: 10 ** random(3) }),
  }),
  (random) => ({ type: 'number', ...some(random, numberBounds(random)) }),
  (random) => ({
    type: 'number',
    multipleOf: 0.01,
    ...some(random, { minimum: -(random(500) / 100), maximum: random(500) / 100 }),
  }),
  (random) => ({ type: pick(random, ['boolean', 'null', ['string', 'null'], ['integer', 'boolean']]), title: 'One' }),
  (random) => ({ enum: [...new Set([pick(random, values), pick(random, values), pick(random, values)])] }),
  (random) => ({ const: pick(random, values) }),
  () => ({ $ref: '#/$defs/tree' }),
]
const branches: readonly Make[] = [object, object, map, array, tuple, union, exclusive, merged]

function object(random: Random, depth: number): JsonSchema {
  const chosen = names.filter(() => random(3) === 0)
  const required = chosen.filter(() => random(2) === 0)
  const properties = Object.fromEntries(chosen.map((name) => [name, randomSchema(random, depth - 1)]))
  return {
    type: 'object',
    properties,
    ...some(random, { required, additionalProperties: random(2) === 0 ? false : randomSchema(random, 0) }),
    ...(random(4) === 0 ? { maxProperties: required.length + random(3) } : {}),
    ...(random(4) === 0 ? { minProperties: random(2) } : {}),
  }
}

function map(random: Random, depth: number): JsonSchema {
  return {
    type: 'object',
    additionalProperties: randomSchema(random, depth - 1),
    ...some(random, {
      propertyNames: pick(random, [{ pattern: '^[a-z]+$' }, { enum: ['a', 'b'] }, { type: 'string', maxLength: 3 }]),
      patternProperties: { '^x-': randomSchema(random, 0), '-y$': randomSchema(random, 0) },
    }),
  }
}

function array(random: Random, depth: number): JsonSchema {
  const bounds = { minItems: random(3), maxItems: 3 + random(3) }
  return { type: 'array', items: randomSchema(random, depth - 1), ...some(random, bounds) }
}

function tuple(random: Random, depth: number): JsonSchema {
  const prefixItems = [randomSchema(random, depth - 1), randomSchema(random, 0)]
  return {
    type: 'array',
    prefixItems,
    ...some(random, { items: randomSchema(random, 0), minItems: random(4), maxItems: 4 }),
  }
}

function union(random: Random, depth: number): JsonSchema {
  const anyOf = Array.from({ length: 1 + random(3) }, () => randomSchema(random, depth - 1))
  return random(4) === 0 ? { anyOf, properties: { id: { type: 'integer' } } } : { anyOf }
}

function exclusive(random: Random, depth: number): JsonSchema {
  const branch = (kind: string): JsonSchema => ({
    type: 'object',
    properties: { kind: { const: kind }, value: randomSchema(random, depth - 1) },
    required: ['kind'],
  })
  const either = { type: 'object', properties: { a: { type: 'string' }, b: {}, c: {} } }
  return pick(random, [
    { oneOf: [branch('a'), branch('b'), { type: 'string' }] },
    { ...either, oneOf: [{ required: ['a'] }, { required: ['b', 'c'] }] },
    { oneOf: [randomSchema(random, depth - 1), randomSchema(random, depth - 1)] },
  ])
}

function merged(random: Random, depth: number): JsonSchema {
  return {
    allOf: [object(random, depth - 1), { ...object(random, depth - 1), additionalProperties: undefined }],
    title: 'Both',
  }
}

/** The root with a definition that everything may refer to. */
export function withDefinitions(random: Random, schema: JsonSchema): JsonSchema {
  const children = { type: 'array', items: { $ref: '#/$defs/tree' }, maxItems: 2 }
  const tree = { type: 'object', properties: { label: randomSchema(random, 0), children }, required: ['label'] }
  const isSelfReferring = JSON.stringify(tree.properties.label).includes('$ref')
  const label = isSelfReferring ? { type: 'string' } : tree.properties.label
  return { ...schema, $defs: { tree: { ...tree, properties: { label, children } } } }
}

function integerBounds(random: Random): JsonSchema {
  const low = random(2000) - 1000
  return { minimum: low, exclusiveMaximum: low + 2 + random(12_000), maximum: 2 ** 53 - 1 }
}

function numberBounds(random: Random): JsonSchema {
  const low = (random(4000) - 2000) / [1, 10, 1000][random(3)]!
  return { [pick(random, ['minimum', 'exclusiveMinimum'])]: low, maximum: low + 0.125 + random(30) / 4 }
}

/** Each field with one chance in two. */
function some(random: Random, fields: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(fields).filter(() => random(2) === 0))
}

function pick<T>(random: Random, items: readonly T[]): T {
  return items[random(items.length)]!
}
