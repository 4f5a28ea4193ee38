import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchema } from '../../src/core/generation.ts'
import { quote } from '../../src/lib/gbnf.ts'
import { faultFrom, toGrammar } from './compile.ts'
import { startCpuBudget } from '../harness/cpu-budget.ts'

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

function nested(levels: number, wrap: (inner: unknown) => JsonSchema): JsonSchema {
  let schema: JsonSchema = { type: 'string' }
  for (let level = 0; level < levels; level++) schema = wrap(schema)
  return schema
}

function chain(length: number, link: (next: JsonSchema) => JsonSchema): JsonSchema {
  const $defs = Object.fromEntries(range(length).map((index) => [`d${index}`, link({ $ref: `#/$defs/d${index + 1}` })]))
  return { $ref: '#/$defs/d0', $defs: { ...$defs, [`d${length}`]: { type: 'string' } } }
}

const properties = (count: number, make: (index: number) => unknown): JsonSchema =>
  Object.fromEntries(range(count).map((index) => [`p${index}`, make(index)]))

const bombs: Readonly<Record<string, () => JsonSchema>> = {
  'objects 10,000 levels deep': () => nested(10_000, (inner) => ({ type: 'object', properties: { a: inner } })),
  'arrays 10,000 levels deep': () => nested(10_000, (inner) => ({ items: inner })),
  'allOf 10,000 levels deep': () => nested(10_000, (inner) => ({ allOf: [inner] })),
  'anyOf 10,000 levels deep': () => nested(10_000, (inner) => ({ anyOf: [inner, inner] })),
  'propertyNames 10,000 levels deep': () => nested(10_000, (inner) => ({ propertyNames: inner })),
  'a constant 10,000 levels deep': () => ({ const: range(10_000).reduce<unknown>((inner) => [inner], 1) }),
  'a constant of 100,000 objects': () => ({ const: range(100_000).map((index) => ({ [`k${index}`]: index })) }),
  '50,000 enum values': () => ({ enum: range(50_000).map((index) => `value ${index}`) }),
  '1,001 enum values in many enums': () => ({ properties: properties(1001, (index) => ({ enum: [index] })) }),
  '200,000 characters in an enum': () => ({ enum: ['x'.repeat(200_000)] }),
  '900 enum values beside a type, in 4,000 places': () => ({
    properties: properties(4_000, () => ({ type: 'string', $ref: '#/$defs/list' })),
    $defs: { list: { enum: range(900).map((index) => `value ${index}`) } },
  }),
  '5,001 properties': () => ({ properties: properties(5001, () => ({})) }),
  '200,000 properties': () => ({ properties: properties(200_000, () => true) }),
  '100,000 required names': () => ({ type: 'object', required: range(100_000).map(String) }),
  '10^9 items': () => ({ type: 'array', items: {}, maxItems: 1e9 }),
  '10^9 items at least': () => ({ type: 'array', items: {}, minItems: 1e9 }),
  '10^9 properties': () => ({ type: 'object', maxProperties: 1e9, additionalProperties: { type: 'string' } }),
  '10^9 properties at least': () => ({ type: 'object', minProperties: 1e9 }),
  '10^9 characters': () => ({ type: 'string', maxLength: 1e9 }),
  '10^9 characters at least': () => ({ type: 'string', minLength: 1e9 }),
  'nested bounds': () => nested(10, (inner) => ({ type: 'array', items: inner, maxItems: 1000 })),
  'a million items at least': () => nested(2, (inner) => ({ type: 'array', items: inner, minItems: 1000 })),
  'a million items at least, through references': () => ({
    type: 'array',
    minItems: 1000,
    items: { $ref: '#/$defs/row' },
    $defs: { row: { type: 'array', minItems: 1000, items: { $ref: '#/$defs/cell' } }, cell: { type: 'boolean' } },
  }),
  'a million characters in items': () => ({
    type: 'array',
    minItems: 1000,
    items: { type: 'string', minLength: 1000 },
  }),
  'a million characters by a pattern': () => ({
    type: 'array',
    minItems: 1000,
    items: { type: 'string', pattern: '^[a-z]{1000}$' },
  }),
  'a million characters of a constant': () => ({
    type: 'array',
    minItems: 1000,
    items: { const: 'x'.repeat(1000) },
  }),
  'a million items in all properties together': () => {
    const names = range(1000).map((index) => `p${index}`)
    const lists = { type: 'array', items: { type: 'null' }, minItems: 1000 }
    return { type: 'object', properties: properties(1000, () => lists), required: names }
  },
  'a million items where any are begun': () => ({
    anyOf: [{ type: 'null' }, nested(2, (inner) => ({ type: 'array', items: inner, minItems: 1000 }))],
  }),
  'exponential references in properties': () =>
    chain(40, (next) => ({ type: 'object', properties: { a: next, b: next } })),
  'exponential references in anyOf': () =>
    chain(40, (next) => ({ anyOf: [next, { type: 'object', properties: { a: next } }, next] })),
  'exponential references in allOf': () => chain(40, (next) => ({ allOf: [next, next] })),
  'alternatives multiplied': () => ({
    allOf: range(20).map((index) => ({
      anyOf: [
        { properties: { [`a${index}`]: { type: 'string' } } },
        { properties: { [`b${index}`]: { type: 'string' } } },
      ],
    })),
  }),
  'a recursion over growing sets': () => {
    const names = range(16)
    const $defs = Object.fromEntries(
      names.map((index) => [
        `d${index}`,
        {
          type: 'object',
          properties: {
            a: { $ref: `#/$defs/d${(index + 1) % 16}` },
            b:
              index === 3
                ? { allOf: [{ $ref: '#/$defs/d4' }, { $ref: '#/$defs/d0' }] }
                : { $ref: `#/$defs/d${(index * 7 + 3) % 16}` },
            c: { allOf: [{ $ref: `#/$defs/d${(index * 5) % 16}` }, { $ref: `#/$defs/d${(index * 3 + 1) % 16}` }] },
            [`n${index}`]: { minLength: index },
          },
        },
      ]),
    )
    return { $ref: '#/$defs/d0', $defs }
  },
  'allOf of 10,000': () => ({
    allOf: range(10_000).map((index) => ({ properties: { [`p${index % 4000}`]: { minLength: index } } })),
  }),
  'allOf of 100,000': () => ({ allOf: range(100_000).map(() => ({ type: 'string' })) }),
  'oneOf of 10,000': () => ({ oneOf: range(10_000).map((index) => ({ type: 'object', required: [`r${index}`] })) }),
  'a reference to itself': () => ({ $ref: '#' }),
  'references in a circle': () => ({
    $ref: '#/$defs/a',
    $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
  }),
  'a circle through alternatives': () => ({ anyOf: [{ type: 'string' }, { allOf: [{ oneOf: [{ $ref: '#' }] }] }] }),
  'a circle inside a property': () => ({ properties: { a: { $ref: '#/properties/a' } } }),
  'a circle of 5,000': () => {
    const $defs = Object.fromEntries(
      range(5_000).map((index) => [`d${index}`, { $ref: `#/$defs/d${(index + 1) % 5_000}` }]),
    )
    return { $ref: '#/$defs/d0', $defs }
  },
  'a recursion that never ends': () => ({ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }),
  '4,000 hard patterns': () => ({
    properties: properties(4000, (index) => ({ type: 'string', pattern: `^(a|b)*a(a|b){${index % 9}}c${index}$` })),
  }),
  '5,000 names against a pattern': () => ({
    type: 'object',
    properties: properties(5000, () => ({})),
    propertyNames: { pattern: '(p|p)*(.*)*(.?){500}$' },
  }),
  'many names to exclude': () => ({
    type: 'object',
    properties: Object.fromEntries(range(4000).map((index) => [`${index}`.padStart(24, 'x'), {}])),
    patternProperties: Object.fromEntries(range(200).map((index) => [`(a|b)*a(a|b){9}${index}`, {}])),
  }),
}

for (const [name, make] of Object.entries(bombs)) {
  test(`${name}: refused at once`, () => {
    const schema = make()
    const check = startCpuBudget(2_000)
    const fault = faultFrom(schema)
    check()
    assert.ok(fault.message.length < 300)
  })
}

/** Each of these once made some matcher or parser hang or fall over. */
const evilPatterns = [
  '('.repeat(30_000),
  '('.repeat(60_000) + ')'.repeat(60_000),
  '['.repeat(10_000),
  '(a{1000}){1000}',
  '((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9}',
  '(((((){1000}){1000}){1000}){1000}){1000}',
  'a{1001}',
  'a{999999999}',
  'a{99999999999999999999}',
  '^(a|b)*a(a|b){30}$',
  '(.*a){20}b',
  '^(a{0,100}){0,100}$',
  '(a?){500}(b?){500}(c?){500}x{200}',
  '(?:a|b|ab){999}',
  '\\1',
  '(a)\\k<a>',
  '(?=a)b',
  '(?<=a)b',
  'a(?!b)',
  '\\p{L}',
  '(?i)a',
  '(?>a)',
  'a++',
  '(?',
  '\\',
  '[a',
  'a{2,1}',
  '\\c',
  '\\u{FFFFFFF}',
  '|'.repeat(100_000),
]

test('hostile patterns: refused at once', () => {
  const compiled: string[] = []
  for (const pattern of evilPatterns) {
    const check = startCpuBudget(2_000)
    const name = pattern.slice(0, 60)
    if (isRefused({ type: 'string', pattern }))
      assert.equal(faultFrom({ type: 'string', pattern }).keyword, 'pattern', name)
    else compiled.push(pattern)
    check(name)
  }
  // These look hostile and come to a small automaton.
  assert.deepEqual(compiled, ['(.*a){20}b'])
})

function isRefused(schema: JsonSchema): boolean {
  try {
    toGrammar(schema)
    return false
  } catch {
    return true
  }
}

test('a schema whose shortest answer is too long is refused with the path of its bound', () => {
  const list = (items: unknown, minItems: number): JsonSchema => ({ type: 'array', items, minItems })
  const rows = { type: 'object', properties: { rows: list(list({ type: 'string' }, 1000), 1000) } }
  const { path, message } = faultFrom(rows)
  assert.deepEqual(path, ['properties', 'rows', 'minItems'])
  assert.match(message, /200000 characters/)
  for (const schema of [
    list({ type: 'string', minLength: 100 }, 1000),
    list(list({ type: 'integer' }, 250), 250),
    // The shorter of two alternatives is what must be there at least.
    list({ anyOf: [{ type: 'null' }, list({ type: 'string' }, 1000)] }, 1000),
    list({ type: ['string', 'null'], minLength: 1000 }, 1000),
    { $ref: '#/$defs/tree', $defs: { tree: list({ anyOf: [{ type: 'null' }, { $ref: '#/$defs/tree' }] }, 1000) } },
  ]) {
    assert.ok(toGrammar(schema).length > 0)
  }
})

test('a schema that only looks large is compiled', () => {
  const alternatives = range(900).map((index) => ({ const: `value ${index}`, title: 'One' }))
  const references = range(300).map((index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }])
  for (const schema of [
    { oneOf: alternatives },
    { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(references), d300: { type: 'string' } } },
    {
      type: 'object',
      properties: properties(3_000, () => ({ type: 'string' })),
      additionalProperties: { type: 'string' },
    },
    { type: 'string', pattern: '^(a+)+$' },
    { type: 'string', pattern: '^(a|a)*$' },
    { $defs: { unused: { not: {}, items: nested(10_000, (inner) => ({ items: inner })) } }, type: 'string' },
    { type: 'string', default: nested(5_000, (inner) => ({ inner })) },
  ]) {
    assert.ok(toGrammar(schema).length < 512 * 1024)
  }
})

test('a list of values that many places refer to is read once for all of them', () => {
  const readsOf = (places: number) => {
    let reads = 0
    const values = new Proxy(
      range(50).map((index) => `value ${index}`),
      {
        get(list, name) {
          reads += 1
          return Reflect.get(list, name) as unknown
        },
      },
    )
    const listed = properties(places, () => ({ $ref: '#/$defs/list' }))
    toGrammar({ type: 'object', properties: listed, $defs: { list: { enum: values } } })
    return reads
  }
  assert.equal(readsOf(200), readsOf(1))
})

test('what is no printable character is escaped in a literal, and nothing else', () => {
  for (let code = 0; code <= 0xffff; code++) {
    const character = String.fromCharCode(code)
    const isPlain = !/["\\]|\p{Cc}/u.test(character)
    assert.equal(quote(`a${character}b`) === `"a${character}b"`, isPlain, code.toString(16))
  }
  assert.equal(quote('😀\u009f'), String.raw`("😀" [\x9F])`)
})
