import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchema } from '../../src/core/generation.ts'
import { faultFrom, toGrammar } from './compile.ts'
import { createNativeParser } from './native-grammar.ts'

const parseNative = await createNativeParser()

const object = (properties: JsonSchema, required = Object.keys(properties)): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const text: JsonSchema = { type: 'string' }
/** Each looks possible until its rule is made. */
const contradiction: JsonSchema = { type: 'string', minLength: 3, maxLength: 2 }
const kind = (name: string, more: JsonSchema): JsonSchema => object({ kind: { const: name }, ...more })
const deep = (inner: JsonSchema, levels: number): JsonSchema =>
  levels === 0 ? inner : object({ in: deep(inner, levels - 1) })

type Case = { name: string; schema: JsonSchema; accepts: readonly string[]; refuses: readonly string[] }

const cases: readonly Case[] = [
  {
    name: 'a branch of anyOf whose lengths exclude each other',
    schema: { anyOf: [contradiction, { type: 'integer' }] },
    accepts: ['1'],
    refuses: ['"a"', '"abc"'],
  },
  {
    name: 'a branch of oneOf that requires an impossible property',
    schema: { oneOf: [kind('a', { value: contradiction }), kind('b', { value: text })] },
    accepts: ['{"kind":"b","value":"x"}'],
    refuses: ['{"kind":"a","value":"x"}', '{"kind":"a"'],
  },
  {
    name: 'a branch of oneOf that is impossible six objects further in',
    schema: { oneOf: [kind('a', { value: deep(contradiction, 6) }), kind('b', { value: text })] },
    accepts: ['{"kind":"b","value":"x"}'],
    refuses: ['{"kind":"a","value":{"in":{"in":'],
  },
  {
    name: 'a branch of oneOf that would have to leave out what its choices require',
    schema: {
      oneOf: [
        { type: 'object', properties: { a: text }, required: ['a'] },
        {
          type: 'object',
          properties: { a: text, b: text, c: text },
          required: ['b'],
          anyOf: [{ required: ['a'] }, { required: ['a', 'c'] }],
        },
      ],
    },
    accepts: ['{"a":"x"}'],
    refuses: ['{"b":"x"}', '{"a":"x","b":"x"}'],
  },
  {
    name: 'a branch of oneOf that is closed, beside one that requires another property',
    schema: {
      oneOf: [
        object({ a: text, b: text }),
        {
          type: 'object',
          additionalProperties: false,
          properties: { a: text, c: text },
          anyOf: [{ required: ['a', 'c'] }, { required: ['c'] }],
        },
      ],
    },
    accepts: ['{"a":"x","b":"y"}', '{"a":"x","c":"y"}', '{"c":"y"}'],
    refuses: ['{"a":"x"}'],
  },
  {
    name: 'a branch behind a reference, used in two places',
    schema: {
      $defs: {
        bad: object({ n: { type: 'integer', minimum: 2, maximum: 1 } }),
        good: object({ n: { type: 'integer' } }),
      },
      ...object({
        first: { anyOf: [{ $ref: '#/$defs/bad' }, { $ref: '#/$defs/good' }] },
        second: { anyOf: [{ $ref: '#/$defs/bad' }, { type: 'null' }] },
      }),
    },
    accepts: ['{"first":{"n":5},"second":null}'],
    refuses: ['{"first":{"n":5},"second":{"n":5}}'],
  },
  {
    name: 'an impossible branch beside one of the same type',
    schema: {
      oneOf: [
        { enum: ['a'], minLength: 2 },
        { type: 'string', enum: ['bc'] },
      ],
    },
    accepts: ['"bc"'],
    refuses: ['"a"'],
  },
  {
    name: 'a branch that only an endless value satisfies',
    schema: {
      $defs: { list: object({ next: { $ref: '#/$defs/list' } }) },
      oneOf: [{ $ref: '#/$defs/list' }, object({ end: { const: true } })],
    },
    accepts: ['{"end":true}'],
    refuses: ['{"next":{"next":'],
  },
  {
    name: 'an optional property that nothing satisfies',
    schema: object({ a: contradiction, b: text }, ['b']),
    accepts: ['{"b":"x"}'],
    refuses: ['{"a":"x","b":"x"}', '{"a":"xyz","b":"x"}'],
  },
  {
    name: 'an optional property with values of another type, as people write them',
    schema: object({ builtin: { type: 'object', enum: ['A', 'B'] }, b: text }, []),
    accepts: ['{"b":"x"}', '{}'],
    refuses: ['{"builtin":"A"}', '{"builtin":{'],
  },
  {
    name: 'items that nothing satisfies leave the empty list',
    schema: { type: 'array', items: contradiction },
    accepts: ['[]'],
    refuses: ['["abc"]'],
  },
  {
    name: 'names that nothing satisfies leave the empty object',
    schema: { type: 'object', propertyNames: contradiction, additionalProperties: text },
    accepts: ['{}'],
    refuses: ['{"a":"b"}', '{"abc":"b"}'],
  },
  {
    name: 'one of several types that its keywords exclude',
    schema: { type: ['string', 'integer'], minLength: 3, maxLength: 2 },
    accepts: ['7'],
    refuses: ['"abc"'],
  },
  {
    name: 'what only becomes impossible once something else was left out',
    schema: { anyOf: [{ ...object({ a: contradiction }, []), minProperties: 1 }, { type: 'null' }] },
    accepts: ['null'],
    refuses: ['{}', '{"a":"x"}'],
  },
]

for (const { name, schema, accepts, refuses } of cases) {
  test(`${name} is left out, and what remains is kept`, () => {
    const grammar = parseNative(toGrammar(schema))
    for (const one of accepts) assert.ok(grammar.accepts(one), `refuses ${one}`)
    for (const one of refuses) assert.ok(!grammar.accepts(one), `accepts ${one}`)
  })
}

const faults: readonly [name: string, schema: JsonSchema, place: string, message: RegExp][] = [
  ['a required property', object({ a: contradiction }), 'properties.a', /no value/],
  [
    'a property required three levels in',
    deep(object({ a: contradiction }), 3),
    `${'properties.in.'.repeat(3)}properties.a`,
    /no value/,
  ],
  [
    'each of the branches',
    { anyOf: [contradiction, { type: 'integer', minimum: 2, maximum: 1 }] },
    'anyOf.0',
    /no value/,
  ],
  ['an endless object', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }, '', /endless/],
  // 2^100 is whole and satisfies it, so that another branch with it would break the promise of a oneOf.
  ['a number that is only too long', { oneOf: [{ type: 'integer', minimum: 2 ** 99 }, text] }, 'oneOf.0', /digits/],
]

for (const [name, schema, place, message] of faults) {
  test(`the fault of ${name} names its place and says why`, () => {
    const fault = faultFrom(schema)
    assert.equal(fault.path.join('.'), place)
    assert.match(fault.message, message)
  })
}

test('a rule of a branch that was left out does not count in the size of the grammar', () => {
  const wide = Object.fromEntries(Array.from({ length: 2_500 }, (_, index) => [`p${index}`, { type: 'integer' }]))
  const branch = (last: JsonSchema) => ({ type: 'object', properties: { ...wide, last }, required: ['last'] })
  const grammar = toGrammar({ anyOf: [branch(contradiction), { type: 'null' }] })
  assert.ok(grammar.length < 1_000, String(grammar.length))
})
