import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchema } from '../../src/core/generation.ts'
import { anyJsonObject, anyJsonValue } from '../../src/grammar/json-rules.ts'
import { createGrammarBuilder } from '../../src/grammar/grammar-builder.ts'
import { compileSchema } from '../../src/grammar/compile-schema.ts'
import { faultFrom, toGrammar } from './compile.ts'
import { createNativeParser } from './native-grammar.ts'

const parseNative = await createNativeParser()

type Case = { name: string; schema: JsonSchema; accepts: readonly string[]; refuses: readonly string[] }

const largest = 9_007_199_254_740_991
const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more })

const cases: readonly Case[] = [
  {
    name: 'strings',
    schema: { type: 'string' },
    accepts: ['""', '"é😀\u007f"', String.raw`"\"\\\/\b\f\n\r\t\u00e9\uFFFF\uD7ff"`],
    refuses: [
      '',
      ' ""',
      '"" ',
      '"\n"',
      '"\u0001"',
      String.raw`"\x41"`,
      String.raw`"\u12"`,
      String.raw`"\ud83d\ude00"`,
      "'a'",
      '"a',
    ],
  },
  {
    name: 'lengths are counted in characters',
    schema: { type: 'string', minLength: 1, maxLength: 2 },
    accepts: ['"a"', '"😀😀"', String.raw`"\u00e9\n"`],
    refuses: ['""', '"abc"', '"😀😀😀"'],
  },
  {
    name: 'long lengths',
    schema: { type: 'string', minLength: 3, maxLength: 2500 },
    accepts: ['"abc"', `"${'a'.repeat(1003)}"`, `"${'a'.repeat(2500)}"`],
    refuses: ['"ab"', `"${'a'.repeat(2501)}"`],
  },
  {
    name: 'numbers',
    schema: { type: 'number' },
    accepts: ['0', '-1', '1.5', '-0.25', '1e5', '2.5E-07', '9007199254740993'],
    refuses: ['01', '+1', '.5', '1.', '1e', '1e999', 'NaN', '0x1', '1 '],
  },
  {
    name: 'integers are plain digits',
    schema: { type: 'integer' },
    accepts: ['0', '7', '-12', '1234567890123456789'],
    refuses: ['-0', '00', '1.0', '1e3', '12345678901234567890'],
  },
  {
    name: 'the bounds of safe integers',
    schema: { type: 'integer', minimum: -largest, maximum: largest },
    accepts: ['0', '-9007199254740991', '9007199254740991', '9007199254740990', '8999999999999999', '-1', '42'],
    refuses: ['9007199254740992', '-9007199254740992', '9100000000000000', '10000000000000000', '-0', '1e5'],
  },
  {
    name: 'integer ranges',
    schema: { type: 'integer', exclusiveMinimum: -12, maximum: 305 },
    accepts: ['-11', '-1', '0', '9', '10', '99', '100', '299', '300', '305'],
    refuses: ['-12', '-20', '-100', '306', '310', '400', '1000'],
  },
  {
    name: 'multiples of a power of ten',
    schema: { type: 'integer', multipleOf: 100, minimum: -150, maximum: 1000 },
    accepts: ['-100', '0', '100', '900', '1000'],
    refuses: ['-200', '-1', '10', '000', '1100', '150'],
  },
  {
    name: 'number bounds',
    schema: { type: 'number', minimum: 0, exclusiveMaximum: 1.25 },
    accepts: ['0', '0.0001', '1', '1.2', '1.2499', '0.9'],
    refuses: ['-0.1', '1.25', '1.3', '2', '-1', '1e-3'],
  },
  {
    name: 'numbers around zero',
    schema: { type: 'number', exclusiveMinimum: -0.5, maximum: 0.5 },
    accepts: ['-0.49', '0', '0.5', '0.25', '-0.1'],
    refuses: ['-0.5', '-0.50', '0.51', '0.6', '-1', '1'],
  },
  {
    name: 'bounds far away',
    schema: { type: 'number', minimum: -1.7976931348623157e308, maximum: 1.7976931348623157e308 },
    accepts: ['0', '-12.5', '9999999999999999'],
    refuses: ['abc'],
  },
  {
    name: 'a choice inside allOf, beside properties',
    schema: {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { enum: ['x'] } },
      additionalProperties: false,
      allOf: [{ anyOf: [{ required: ['a'] }, { required: ['b'] }] }, { oneOf: [{ minProperties: 1 }] }],
    },
    accepts: ['{"a":1}', '{"b":"x"}', '{"a":1,"b":"x"}'],
    refuses: ['{}', '{"c":1}'],
  },
  {
    name: 'whole numbers of 32 bits',
    schema: { type: 'number', format: 'int32' },
    accepts: ['0', '-2147483648', '2147483647'],
    refuses: ['0.5', '-2147483649', '2147483648', '1e3'],
  },
  {
    name: 'whole numbers of 64 bits',
    schema: { type: 'number', format: 'int64', minimum: 5 },
    accepts: ['5', '2147483648'],
    refuses: ['4', '5.5', '1e3'],
  },
  {
    name: 'bytes in base64',
    schema: { type: 'string', format: 'byte' },
    accepts: ['""', '"AAAA"', '"ab+/"', '"YQ=="', '"YWI="', '"YWJjZA=="'],
    refuses: ['"A"', '"AAA"', '"A==="', '"AA=A"', '"AA AA"'],
  },
  {
    name: 'draft 4 exclusive bounds',
    schema: { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 5 },
    accepts: ['1', '5'],
    refuses: ['0', '6'],
  },
  {
    name: 'listed values',
    schema: { enum: ['a"b', 'line\n', 1, null, { k: [1] }] },
    accepts: [String.raw`"a\"b"`, String.raw`"line\n"`, '1', 'null', '{"k":[1]}'],
    refuses: ['"a"', '2', 'true', '{"k":[2]}'],
  },
  {
    name: 'listed values beside factors, in decimals',
    schema: { enum: [4.1, 4.105, 0.3, 3, 1e-7, 1e300, -14.14, 0, 'x'], multipleOf: 0.01 },
    accepts: ['4.1', '0.3', '3', '1e+300', '-14.14', '0', '"x"'],
    refuses: ['4.105', '1e-7'],
  },
  {
    name: 'multiples of a hundredth, in decimals',
    schema: { type: 'number', minimum: -5, maximum: 5, multipleOf: 0.01 },
    accepts: ['4.1', '4.10', '-0.14', '0.07', '5', '-5'],
    refuses: ['4.105', '5.01', '-5.01', '0.001'],
  },
  {
    name: 'listed values beside a type',
    schema: { type: ['string', 'null'], enum: ['a', 1, null], maxLength: 3 },
    accepts: ['"a"', 'null'],
    refuses: ['1'],
  },
  { name: 'a constant null', schema: { const: null }, accepts: ['null'], refuses: ['0', '""'] },
  { name: 'nullable', schema: { type: 'integer', nullable: true }, accepts: ['1', 'null'], refuses: ['"1"'] },
  {
    name: 'objects in the order of the schema',
    schema: object({ a: { type: 'string' }, b: { type: 'integer' }, c: { type: 'boolean' } }, { required: ['b'] }),
    accepts: ['{"b":1}', '{"a":"x","b":1}', '{"a": "x", "b": 1, "c": true}', '{"b":1,"c":false}'],
    refuses: [
      '{}',
      '{"a":"x"}',
      '{"b":1,"a":"x"}',
      '{"b":1,}',
      '{,"b":1}',
      '{"b":1,"d":2}',
      '{ "b":1}',
      '{"b":1 }',
      '{"b" :1}',
      '{"b":\n1}',
      '{"b":  1}',
    ],
  },
  {
    name: 'objects with optional properties only',
    schema: object({ a: { const: 1 }, b: { const: 2 }, c: { const: 3 } }),
    accepts: [
      '{}',
      '{"a":1}',
      '{"b":2}',
      '{"c":3}',
      '{"a":1,"b":2}',
      '{"a":1,"c":3}',
      '{"b":2,"c":3}',
      '{"a":1,"b":2,"c":3}',
    ],
    refuses: ['{"a":1"b":2}', '{"c":3,"a":1}', '{"a":1,"a":1}'],
  },
  {
    name: 'names that need escapes',
    schema: object({ 'a"b\\': { const: 1 }, '': { const: 2 }, __proto__x: { const: 3 }, 'é\n': { const: 4 } }),
    accepts: [String.raw`{"a\"b\\":1,"":2,"__proto__x":3,"é\n":4}`],
    refuses: ['{"a":1}'],
  },
  {
    name: 'a property named like the prototype',
    schema: JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}',
    ) as JsonSchema,
    accepts: ['{"__proto__":1}'],
    refuses: ['{}', '{"__proto__":"x"}'],
  },
  {
    name: 'required names that are not declared',
    schema: { type: 'object', required: ['z'] },
    accepts: ['{"z":1}', '{"z": [{}]}'],
    refuses: ['{}', '{"y":1}'],
  },
  {
    name: 'free objects',
    schema: { type: 'object' },
    accepts: ['{}', '{"a":{"b":[1, "x",null]}}'],
    refuses: ['[]', '{"a"}', '{"a":1,}'],
  },
  { name: 'empty objects', schema: object({}, { additionalProperties: false }), accepts: ['{}'], refuses: ['{"a":1}'] },
  {
    name: 'maps',
    schema: { type: 'object', additionalProperties: { type: 'integer' } },
    accepts: ['{}', '{"a":1}', '{"a":1, "b":2}'],
    refuses: ['{"a":"x"}', '{,"a":1}'],
  },
  {
    name: 'maps beside declared properties',
    schema: object(
      { id: { type: 'string' }, ids: { type: 'null' } },
      { required: ['id'], additionalProperties: { type: 'integer' } },
    ),
    accepts: ['{"id":"x"}', '{"id":"x","i":1,"idx":2,"ids2":3}', '{"id":"x","ids":null,"z":1}'],
    refuses: ['{"id":1}', '{"id":"x","ids":1}', '{"id":"x","id":1}', '{"id":"x","z":"y"}'],
  },
  {
    name: 'names within a pattern',
    schema: { type: 'object', propertyNames: { pattern: '^[a-z]+$' }, additionalProperties: { type: 'boolean' } },
    accepts: ['{}', '{"abc":true}'],
    refuses: ['{"A":true}', '{"":true}'],
  },
  {
    name: 'listed names',
    schema: {
      type: 'object',
      propertyNames: { enum: ['en', 'fr'] },
      additionalProperties: { type: 'string' },
      required: ['en'],
    },
    accepts: ['{"en":"x"}', '{"en":"x","fr":"y"}'],
    refuses: ['{"fr":"y"}', '{"en":"x","de":"z"}'],
  },
  {
    name: 'properties by pattern',
    schema: object(
      { a: { const: 1 } },
      { patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false },
    ),
    accepts: ['{}', '{"a":1,"x-y":"z"}', '{"x-":""}'],
    refuses: ['{"x-y":1}', '{"y":"z"}'],
  },
  {
    name: 'numbers of properties',
    schema: object({ a: { const: 1 }, b: { const: 2 }, c: { const: 3 } }, { minProperties: 1, maxProperties: 2 }),
    accepts: ['{"a":1}', '{"c":3}', '{"a":1,"c":3}', '{"b":2,"c":3}'],
    refuses: ['{}', '{"a":1,"b":2,"c":3}'],
  },
  {
    name: 'arrays',
    schema: { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 3 },
    accepts: ['[1]', '[1,2]', '[1, 2, 3]'],
    refuses: ['[]', '[1,2,3,4]', '["a"]', '[1,]', '[ 1]', '[1 ,2]'],
  },
  {
    name: 'tuples',
    schema: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: { type: 'null' } },
    accepts: ['["a",1]', '["a",1,null,null]'],
    refuses: ['[1,"a"]', '["a",1,2]'],
  },
  {
    name: 'tuples as before 2020-12',
    schema: { type: 'array', items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false },
    accepts: ['["a",1]'],
    refuses: ['["a",1,2]'],
  },
  {
    name: 'recursion',
    schema: object(
      { value: { type: 'integer' }, next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
      { required: ['value', 'next'] },
    ),
    accepts: ['{"value":1,"next":null}', '{"value":1,"next":{"value":2,"next":{"value":3,"next":null}}}'],
    refuses: ['{"value":1,"next":{}}'],
  },
  {
    name: 'definitions, and pointers with escapes',
    schema: object(
      { a: { $ref: '#/$defs/a~1b' }, b: { $ref: '#/definitions/c%20d', description: 'beside' } },
      { $defs: { 'a/b': { type: 'integer' } }, definitions: { 'c d': { type: 'boolean' } }, required: ['a', 'b'] },
    ),
    accepts: ['{"a":1,"b":true}'],
    refuses: ['{"a":true,"b":1}'],
  },
  {
    name: 'several types',
    schema: { type: ['string', 'integer', 'null'] },
    accepts: ['"a"', '1', 'null'],
    refuses: ['1.5', 'true', '[]'],
  },
  {
    name: 'alternatives joined with what stands beside them',
    schema: object(
      { a: { type: 'string' }, b: { type: 'string' } },
      { anyOf: [{ required: ['a'] }, { required: ['b'] }] },
    ),
    accepts: ['{"a":""}', '{"b":""}', '{"a":"","b":""}'],
    refuses: ['{}'],
  },
  {
    name: 'one of several, told apart by a constant',
    schema: {
      oneOf: [
        object({ kind: { const: 'circle' }, radius: { type: 'number' } }, { required: ['kind', 'radius'] }),
        object({ kind: { const: 'square' }, side: { type: 'number' } }, { required: ['kind', 'side'] }),
      ],
    },
    accepts: ['{"kind":"circle","radius":1}', '{"kind":"square","side":2}'],
    refuses: ['{"kind":"circle","side":2}', '{"kind":"other"}'],
  },
  {
    name: 'one of several, told apart by what is required',
    schema: object(
      { url: { type: 'string' }, path: { type: 'string' } },
      { oneOf: [{ required: ['url'] }, { required: ['path'] }] },
    ),
    accepts: ['{"url":""}', '{"path":""}'],
    refuses: ['{}', '{"url":"","path":""}'],
  },
  {
    name: 'one of a word and a pattern',
    schema: {
      oneOf: [
        { type: 'string', enum: ['all'] },
        { type: 'string', pattern: '^[1-9][0-9]*$' },
      ],
    },
    accepts: ['"all"', '"12"'],
    refuses: ['"0"', '"some"'],
  },
  {
    name: 'merged objects',
    schema: {
      $defs: { base: object({ id: { type: 'integer' }, name: {} }, { required: ['id'] }) },
      allOf: [{ $ref: '#/$defs/base' }, object({ name: { type: 'string' } }, { required: ['name'] })],
    },
    accepts: ['{"id":1,"name":"x"}'],
    refuses: ['{"id":1}', '{"id":1,"name":2}', '{"name":"x"}'],
  },
  {
    name: 'impossible alternatives are left out',
    schema: { anyOf: [false, { not: {} }, { type: 'boolean' }] },
    accepts: ['true'],
    refuses: ['null'],
  },
  { name: 'true as a schema', schema: { properties: { a: true } }, accepts: ['{"a":[1]}', '{}'], refuses: ['[]'] },
  {
    name: 'annotations and unknown keywords',
    schema: {
      $schema: 'x',
      $id: 'y',
      title: 't',
      default: 1,
      examples: [],
      deprecated: true,
      'x-order': 3,
      type: 'integer',
      format: 'int64',
    },
    accepts: ['1'],
    refuses: ['"1"'],
  },
  {
    name: 'fields left null by a serializer',
    schema: { type: 'string', minLength: null, enum: null, pattern: null, items: null },
    accepts: ['"a"'],
    refuses: ['1'],
  },
  {
    name: 'patterns',
    schema: { type: 'string', pattern: '^(?:v|V)\\d{1,3}(\\.\\d+)*$' },
    accepts: ['"v1"', '"V123.4.56"'],
    refuses: ['"v"', '"v1234"', '"xv1"', '"v1."'],
  },
  {
    name: 'patterns that are not anchored',
    schema: { type: 'string', pattern: 'b+"' },
    accepts: [String.raw`"b\""`, String.raw`"aabb\"cc"`, String.raw`"\nb\"\u00e9"`],
    refuses: ['"b"', String.raw`"a\""`],
  },
  {
    name: 'patterns with a length',
    schema: { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 4 },
    accepts: ['"ab"', '"abcd"'],
    refuses: ['"a"', '"abcde"', '"AB"'],
  },
  {
    name: 'look-ahead at the beginning',
    schema: { type: 'string', pattern: '^(?!.*\\.\\.)[a-z.]+$' },
    accepts: ['"a.b"'],
    refuses: ['"a..b"'],
  },
]

for (const { name, schema, accepts, refuses } of cases) {
  test(`${name}: valid texts match and invalid ones do not`, () => {
    const grammar = parseNative(toGrammar(schema))
    for (const text of accepts) assert.ok(grammar.accepts(text), `refuses ${text}`)
    for (const text of refuses) assert.ok(!grammar.accepts(text), `accepts ${text}`)
  })
}

const formats: readonly [name: string, accepts: readonly string[], refuses: readonly string[]][] = [
  [
    'date',
    ['2024-02-29', '2000-02-29', '1999-12-31'],
    ['2023-02-29', '1900-02-29', '2024-13-01', '2024-04-31', '24-01-01'],
  ],
  ['time', ['23:59:59Z', '00:00:00.125+05:30'], ['24:00:00Z', '12:00', '12:00:00']],
  ['date-time', ['2024-02-29T12:30:00Z', '2024-01-01T00:00:00.5-08:00'], ['2024-01-01', '2024-01-01 00:00:00Z']],
  ['duration', ['P1Y', 'P3DT4H', 'PT5M', 'P2W', 'P1Y2M3DT4H5M6S'], ['P', 'PT', '1Y', 'P1Y2W']],
  ['email', ['a@b.co', 'first.last+tag@mail.example.org'], ['a', '@b.co', 'a@b', '.a@b.co', 'a..b@c.co']],
  ['hostname', ['localhost', 'a-b.example.com'], ['-a.com', 'a-.com', 'a..b', '']],
  ['ipv4', ['0.0.0.0', '192.168.1.255'], ['256.0.0.1', '1.2.3', '01.2.3.4']],
  [
    'ipv6',
    ['::', '::1', 'fe80::1', '1:2:3:4:5:6:7:8', '1::8'],
    ['1:2:3', ':::', '1::2::3', 'g::', '1:2:3:4:5:6:7:8:9'],
  ],
  ['uuid', ['123e4567-e89b-12d3-a456-426614174000'], ['123e4567e89b12d3a456426614174000', 'x']],
]

for (const [name, accepts, refuses] of formats) {
  test(`${name} as a format: what matches and what does not`, () => {
    const grammar = parseNative(toGrammar({ type: 'string', format: name }))
    for (const text of accepts) assert.ok(grammar.accepts(`"${text}"`), `refuses ${text}`)
    for (const text of refuses) assert.ok(!grammar.accepts(`"${text}"`), `accepts ${text}`)
  })
}

test('the rule of any object takes objects alone, and that of any value takes all JSON', () => {
  const builder = createGrammarBuilder()
  const anyObject = parseNative(builder.toGrammar(anyJsonObject(builder)))
  const anyValue = parseNative(builder.toGrammar(anyJsonValue(builder)))
  for (const text of ['{}', '{"a": [1, {"b":null}]}']) assert.ok(anyObject.accepts(text) && anyValue.accepts(text))
  for (const text of ['[]', '1', 'null']) assert.ok(!anyObject.accepts(text) && anyValue.accepts(text))
})

test('several schemas in one grammar share their rules', () => {
  const builder = createGrammarBuilder()
  const schema = object({ root: { type: 'string' }, 'r--2': { type: 'integer' }, string: { format: 'date' } })
  const first = compileSchema(builder, schema)
  const second = compileSchema(builder, object({ root: { type: 'string' } }, { required: ['root'] }))
  const grammar = parseNative(builder.toGrammar(`${first} "\\n" ${second}`))
  assert.ok(grammar.accepts('{"root":"a","r--2":1,"string":"2024-01-01"}\n{"root":"b"}'))
})

test('the grammar of safe integers stays below 4 KB', () => {
  assert.ok(toGrammar({ type: 'integer', minimum: -largest, maximum: largest }).length < 4096)
})

test('many optional properties take a grammar of linear size that the native parser can follow', () => {
  const properties = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`p${index}`, { type: 'integer' }]))
  const text = toGrammar(object(properties))
  assert.ok(text.length < 130 * 3_000)
  assert.ok(parseNative(text).accepts('{"p0":1,"p1500":2,"p2999":3}'))
})

test('hundreds of long names leave room for others, and none of them passes for another', () => {
  const names = Array.from({ length: 300 }, (_, index) => `settingNumber${index}OfTheWholeMachineRoom`)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  const grammar = parseNative(toGrammar({ type: 'object', properties, additionalProperties: { type: 'integer' } }))
  for (const text of ['{"other":1}', '{"s":1}', '{"sett":1,"é":2}', `{"${names[7]}":"x","zone":1}`])
    assert.ok(grammar.accepts(text), `refuses ${text}`)
  for (const text of [`{"${names[7]}":1}`, `{"x":1,"${names[299]}":1}`, '{"other":"x"}'])
    assert.ok(!grammar.accepts(text), `accepts ${text}`)
})

test('a name that only begins or goes on like a known one may stand beside it', () => {
  const schema = object(
    { name: { type: 'string' }, names: { type: 'string' } },
    { additionalProperties: { type: 'integer' } },
  )
  const grammar = parseNative(toGrammar(schema))
  for (const key of ['nam', 'namess', 'Name', '', 'na"me'])
    assert.ok(grammar.accepts(JSON.stringify({ [key]: 1 })), `refuses ${key}`)
  for (const key of ['name', 'names']) assert.ok(!grammar.accepts(JSON.stringify({ [key]: 1 })), `accepts ${key}`)
})

test('two dozen patterns of names beside many known ones are kept, each with its own values', () => {
  const patterns = Array.from({ length: 24 }, (_, index) => [
    `^contacts:${index}:([0-3]{0,1}[0-9]):(en|nl|pt)$`,
    index % 2 === 0 ? { type: 'integer' } : { type: 'string' },
  ])
  const known = Array.from({ length: 60 }, (_, index) => [`contacts:${index}:name`, { type: 'boolean' }])
  const schema = object(Object.fromEntries(known), {
    patternProperties: Object.fromEntries(patterns),
    additionalProperties: false,
  })
  const grammar = parseNative(toGrammar(schema))
  for (const text of ['{"contacts:5:name":true,"contacts:4:31:nl":1}', '{"contacts:23:7:pt":"x","contacts:2:2:en":2}'])
    assert.ok(grammar.accepts(text), `refuses ${text}`)
  for (const text of [
    '{"contacts:4:31:nl":"x"}',
    '{"contacts:4:41:nl":1}',
    '{"contacts:24:1:en":1}',
    '{"contacts:5:name":1}',
  ])
    assert.ok(!grammar.accepts(text), `accepts ${text}`)
})

test('a name that two patterns describe, one of them from its end, is never given a value of just one', () => {
  const schema = {
    type: 'object',
    patternProperties: { '^a': { type: 'integer' }, z$: { type: 'string' } },
    additionalProperties: false,
  }
  const grammar = parseNative(toGrammar(schema))
  for (const text of ['{"ab":1}', '{"bz":"x"}']) assert.ok(grammar.accepts(text), `refuses ${text}`)
  for (const text of ['{"az":1}', '{"az":"x"}', '{"a b z":1}']) assert.ok(!grammar.accepts(text), `accepts ${text}`)
})

test('a long length beside a pattern takes work in proportion, so that dozens of such properties are kept', () => {
  const one = { type: 'string', pattern: '^[a-z0-9][a-z0-9_.-]*$', maxLength: 255 }
  const properties = Object.fromEntries(
    Array.from({ length: 24 }, (_, index) => [`p${index}`, { ...one, maxLength: 200 + index }]),
  )
  const grammar = parseNative(toGrammar(object(properties)))
  assert.ok(grammar.accepts(`{"p3":"${'a'.repeat(203)}"}`))
  assert.ok(!grammar.accepts(`{"p3":"${'a'.repeat(204)}"}`))
})

const faults: readonly [keyword: string | null, schema: JsonSchema, path?: readonly (string | number)[]][] = [
  ['not', { not: { type: 'string' } }],
  ['if', { if: {}, else: { type: 'string' } }],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }],
  ['dependentSchemas', { dependentSchemas: {} }],
  [
    'unevaluatedProperties',
    object({ a: { unevaluatedProperties: false } }),
    ['properties', 'a', 'unevaluatedProperties'],
  ],
  ['contains', { type: 'array', contains: {} }],
  ['enum', { enum: ['a', 2 ** 53] }],
  ['const', object({ a: { const: [{ b: 1e20 }] } }), ['properties', 'a', 'const']],
  ['$dynamicRef', { $dynamicRef: '#x' }],
  ['$ref', { $ref: 'https://example.com/schema' }],
  ['$ref', { items: { $ref: '#/$defs/missing' } }, ['items', '$ref']],
  ['$ref', { $ref: '#/__proto__' }],
  ['uniqueItems', { type: 'array', items: {}, uniqueItems: true }],
  ['multipleOf', { type: 'integer', multipleOf: 3 }],
  ['multipleOf', { type: 'number', multipleOf: 0 }],
  ['oneOf', { oneOf: [{ type: 'integer' }, { type: 'number' }] }],
  ['oneOf', { oneOf: [{ type: 'string' }, { type: 'string', format: 'date' }] }],
  ['oneOf', { oneOf: [{ enum: ['all'] }, { type: 'string', pattern: '^[a-z]*$' }] }],
  ['oneOf', { oneOf: [{ enum: ['all'] }, { type: 'string', format: 'date' }] }],
  ['minProperties', { type: 'object', minProperties: 3 }],
  ['pattern', { type: 'string', pattern: '(a)\\1' }, ['pattern']],
  ['pattern', { type: 'string', pattern: 'a(?=b)' }],
  ['pattern', { type: 'string', pattern: '(?<!a)b' }],
  ['pattern', { type: 'string', pattern: '\\bword\\b' }],
  ['pattern', { type: 'string', pattern: '(' }],
  ['pattern', { type: 'string', pattern: '*' }],
  ['pattern', { type: 'string', pattern: '[z-a]' }],
  ['pattern', { type: 'string', pattern: 'a{3,1}' }],
  ['pattern', { type: 'string', pattern: '\\p{L}+' }],
  ['patternProperties', { patternProperties: { '(': {} } }],
  ['properties', { const: {}, properties: {} }],
  ['type', { type: 'text' }],
  ['type', { type: [] }],
  ['enum', { enum: [] }],
  ['required', { required: 'a' }],
  ['minLength', { type: 'string', minLength: -1 }],
  ['minimum', { type: 'integer', minimum: '1' }],
  ['anyOf', { anyOf: [] }],
  ['maxLength', { type: 'string', maxLength: 1_000_001 }],
  [null, { type: 'string', minLength: 3, maxLength: 2 }],
  [null, { type: 'integer', minimum: 2, maximum: 1 }],
  [null, { allOf: [{ type: 'string' }, { type: 'integer' }] }],
  [null, { const: 1, enum: [2] }],
  [null, object({ a: false }, { required: ['a'] })],
  [null, { properties: { a: 1 } }],
]

for (const [keyword, schema, path] of faults) {
  test(`the fault names ${keyword ?? 'no keyword'}: ${JSON.stringify(schema)}`, () => {
    const fault = faultFrom(schema)
    assert.equal(fault.keyword, keyword)
    assert.ok(fault.message.length > 0)
    if (path !== undefined) assert.deepEqual(fault.path, path)
  })
}

test('what can be checked afterwards may be relaxed, and is reported', () => {
  const schema = object({
    tags: { type: 'array', items: { type: 'string' }, uniqueItems: true, maxItems: 5_000 },
    text: { type: 'string', maxLength: 1e7 },
    even: { type: 'integer', multipleOf: 2 },
    either: { oneOf: [{ type: 'number' }, { type: 'integer' }] },
  })
  const relaxed: string[] = []
  const grammar = parseNative(toGrammar(schema, ({ keyword }) => relaxed.push(keyword)))
  assert.deepEqual(relaxed.toSorted(), ['maxItems', 'maxLength', 'multipleOf', 'oneOf', 'uniqueItems'])
  assert.ok(grammar.accepts('{"tags":["a","a"],"text":"x","even":3,"either":1}'))
})
