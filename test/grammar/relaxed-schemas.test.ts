// A schema that need not be kept in full: what no grammar can say is left out, and the rest still binds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonSchema } from '../../src/core/generation.ts'
import { compileSchema } from '../../src/grammar/compile-schema.ts'
import { createGrammarBuilder } from '../../src/grammar/grammar-builder.ts'
import { SchemaFault } from '../../src/grammar/schema-fault.ts'
import { bombs } from '../structured/schema-bombs.ts'
import { faultFrom, toGrammar } from './compile.ts'
import { createDeriver, createRandom, type Random } from './derive.ts'
import { createNativeParser } from './native-grammar.ts'
import { parseGbnf } from './parse-gbnf.ts'
import { randomSchema, withDefinitions } from './random-schema.ts'
import { validate } from './validate.ts'

const parseNative = await createNativeParser()

type Case = {
  readonly name: string
  readonly schema: JsonSchema
  /** Where something is left out; a strict schema is refused for the first. */
  readonly relaxed: readonly string[]
  readonly accepts: readonly string[]
  readonly refuses: readonly string[]
}

const object = (properties: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: 'object', properties, ...more })
const text = { type: 'string' }
const count = { type: 'integer', minimum: 1, maximum: 9 }
const counted = (schema: JsonSchema): JsonSchema => object({ a: schema, n: count }, { required: ['a', 'n'] })

const cases: readonly Case[] = [
  {
    name: 'not',
    schema: counted({ type: 'string', not: { const: 'x' } }),
    relaxed: ['properties.a.not'],
    accepts: ['{"a":"x","n":1}'],
    refuses: ['{"a":1,"n":1}', '{"a":"x","n":10}', '{"a":"x"}'],
  },
  {
    name: 'contains',
    schema: counted({ type: 'array', items: { type: 'integer' }, contains: { const: 1 } }),
    relaxed: ['properties.a.contains'],
    accepts: ['{"a":[2],"n":1}'],
    refuses: ['{"a":["2"],"n":1}'],
  },
  {
    name: 'dependentRequired',
    schema: object({ a: text, b: text }, { dependentRequired: { a: ['b'] } }),
    relaxed: ['dependentRequired'],
    accepts: ['{"a":""}', '{"a":"","b":""}'],
    refuses: ['{"a":1}', '{"c":1}'],
  },
  {
    name: 'a condition that only requires',
    schema: object({ a: text, b: text }, { if: { required: ['a'] }, else: { required: ['b'] } }),
    relaxed: ['if'],
    accepts: ['{"a":""}'],
    refuses: ['{"c":1}'],
  },
  {
    name: 'a condition with properties of its own, which must not be forbidden',
    schema: object({ kind: { enum: ['a', 'b'] } }, { if: { required: ['kind'] }, else: object({ more: count }) }),
    relaxed: ['if'],
    accepts: ['{"kind":"a"}', '{"kind":"a","more":3}'],
    refuses: ['{"kind":"c"}'],
  },
  {
    name: 'a condition beside which no more properties are allowed',
    schema: object({ a: text }, { if: {}, else: object({ a: { minLength: 1 } }), additionalProperties: false }),
    relaxed: ['if'],
    accepts: ['{"a":""}'],
    refuses: ['{"b":1}'],
  },
  {
    name: 'unevaluatedProperties',
    schema: { allOf: [object({ a: text })], ...object({ b: count }), unevaluatedProperties: false },
    relaxed: ['unevaluatedProperties'],
    accepts: ['{"b":1,"a":""}'],
    refuses: ['{"b":1,"a":"","c":1}'],
  },
  {
    name: 'a reference to the network',
    schema: counted({ $ref: 'https://example.com/schema', description: 'Elsewhere.' }),
    relaxed: ['properties.a.$ref'],
    accepts: ['{"a":{"b":[null]},"n":1}'],
    refuses: ['{"a":{},"n":0}'],
  },
  {
    name: 'a reference to nothing beside properties',
    schema: { allOf: [{ $ref: '#/$defs/none' }, object({ n: count }, { required: ['n'] })] },
    relaxed: ['allOf.0.$ref'],
    accepts: ['{"n":1}', '{"n":1,"unknown":true}'],
    refuses: ['{"n":10}', '{"unknown":true}'],
  },
  {
    name: 'a pattern that looks back',
    schema: counted({ type: 'string', pattern: '(a)\\1', maxLength: 3 }),
    relaxed: ['properties.a.pattern'],
    accepts: ['{"a":"xyz","n":1}'],
    refuses: ['{"a":"wxyz","n":1}', '{"a":1,"n":1}'],
  },
  {
    name: 'a pattern beside one that can be kept',
    schema: { allOf: [{ type: 'string', pattern: '\\bx' }, { pattern: '^[a-z]+$' }] },
    relaxed: ['allOf.0.pattern'],
    accepts: ['"abc"'],
    refuses: ['"ABC"', '""'],
  },
  {
    name: 'names of a pattern, and no others',
    schema: { type: 'object', patternProperties: { '\\bx': count }, additionalProperties: false },
    relaxed: ['patternProperties'],
    accepts: ['{}', '{"any":3}'],
    refuses: ['{"any":"3"}'],
  },
  {
    name: 'names of a pattern beside declared ones',
    schema: object({ a: text }, { patternProperties: { '\\bx': count, '^y': text } }),
    relaxed: ['patternProperties'],
    accepts: ['{"a":"b","x":"any"}', '{"y":"z"}'],
    refuses: ['{"a":1}', '{"y":1}'],
  },
  {
    name: 'alternatives for names',
    schema: { type: 'object', propertyNames: { anyOf: [{ const: 'a' }, { const: 'b' }] }, additionalProperties: count },
    relaxed: ['propertyNames.anyOf'],
    accepts: ['{"c":3}'],
    refuses: ['{"a":"3"}'],
  },
  {
    name: 'more properties than can be told apart',
    schema: { type: 'object', minProperties: 3, additionalProperties: count },
    relaxed: ['minProperties'],
    accepts: ['{"a":1,"b":2,"c":3}', '{}'],
    refuses: ['{"a":"1"}'],
  },
  {
    name: 'a bound of too many digits',
    schema: { type: 'number', minimum: 1e20 },
    relaxed: ['minimum'],
    accepts: ['1', '1.5'],
    refuses: ['"1"'],
  },
  {
    name: 'bounds finer than what is between them',
    schema: { type: 'number', multipleOf: 0.1, minimum: 0.25, maximum: 2 },
    relaxed: ['minimum'],
    accepts: ['0.1', '2'],
    refuses: ['2.1', '3'],
  },
  {
    name: 'items beside listed values',
    schema: { enum: ['a', ['b']], items: text },
    relaxed: ['items'],
    accepts: ['"a"', '["b"]'],
    refuses: ['["c"]'],
  },
]

for (const { name, schema, relaxed, accepts, refuses } of cases) {
  test(`${name}: left out where that is allowed, and refused where not`, () => {
    const places = new Set<string>()
    const grammar = parseNative(
      toGrammar(schema, ({ path, keyword }) => {
        assert.equal(path.at(-1), keyword)
        places.add(path.join('.'))
      }),
    )
    assert.deepEqual([...places], relaxed)
    for (const answer of accepts) assert.ok(grammar.accepts(answer), `refuses ${answer}`)
    for (const answer of refuses) assert.ok(!grammar.accepts(answer), `accepts ${answer}`)
    const fault = faultFrom(schema)
    assert.equal(fault.path.join('.'), relaxed[0])
  })
}

test('a schema is refused also where something may be left out, if it is malformed, impossible or too large', () => {
  const faults: readonly [place: string, schema: JsonSchema][] = [
    ['properties.a.type', counted({ type: 'text' })],
    ['required', object({ a: text }, { required: 'a' })],
    ['properties.a.$ref', counted({ $ref: 1 })],
    ['properties.a', counted({ type: 'string', minLength: 3, maxLength: 2 })],
    ['', { type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }],
    ['properties.a.minItems', counted({ type: 'array', items: text, minItems: 1_001 })],
    ['properties.a.minLength', counted({ type: 'string', minLength: 1_001 })],
    ['properties.a.pattern', counted({ type: 'string', pattern: 'a{1001}' })],
    ['properties.a.pattern', counted({ type: 'string', pattern: '(a|b)*a(a|b){30}$' })],
    ['enum', { enum: Array.from({ length: 1_001 }, (_, index) => index) }],
  ]
  for (const [place, schema] of faults) {
    assert.throws(
      () => toGrammar(schema, () => {}),
      (error) => error instanceof SchemaFault && error.path.join('.') === place,
      place,
    )
  }
})

/** The schema with keywords here and there that no grammar can say and every value satisfies. */
function sprinkle(schema: unknown, random: Random): unknown {
  if (Array.isArray(schema)) return schema.map((inner) => sprinkle(inner, random))
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.entries(schema).map(([key, value]): [string, unknown] => {
    return ['enum', 'const', 'required', 'type'].includes(key) ? [key, value] : [key, sprinkle(value, random)]
  })
  const isSchema = typeof Reflect.get(schema, 'type') === 'string'
  const never = [
    { not: { const: 'never' } },
    { unevaluatedItems: true },
    { dependentRequired: {} },
    { $dynamicRef: '#' },
  ]
  return { ...Object.fromEntries(inner), ...(isSchema ? never[random(2 * never.length)] : {}) }
}

test('random schemas are kept but for what was sprinkled over them', () => {
  const random = createRandom(4_711)
  let derivations = 0
  while (derivations < 1_000) {
    const plain = JSON.parse(JSON.stringify(withDefinitions(random, randomSchema(random)))) as JsonSchema
    if (!isKept(plain)) continue
    const sprinkled = sprinkle(plain, random) as JsonSchema
    const grammar = toGrammar(sprinkled, () => {})
    const derive = createDeriver(parseGbnf(grammar), random)
    for (let round = 0; round < 5; round++, derivations++) {
      const answer = derive()
      assert.equal(validate(plain, JSON.parse(answer)), null, `${answer}\nfor ${JSON.stringify(sprinkled)}`)
    }
    parseNative(grammar)
  }
})

function isKept(schema: JsonSchema): boolean {
  try {
    return toGrammar(schema) !== ''
  } catch {
    return false
  }
}

test('a schema bomb is refused at once also where keywords may be left out', () => {
  for (const { name, schema } of bombs) {
    const before = process.cpuUsage()
    try {
      const grammar = toGrammar(schema, () => {})
      parseNative(grammar)
    } catch (error) {
      assert.ok(error instanceof SchemaFault, name)
    }
    assert.ok(process.cpuUsage(before).user < 2_000_000, name)
  }
})

test('a strict schema is refused also after a lenient one has had the same pattern', () => {
  const builder = createGrammarBuilder()
  const schema = counted({ type: 'string', pattern: 'a(?=b)' })
  compileSchema(builder, schema, () => {})
  assert.throws(() => compileSchema(builder, schema), SchemaFault)
})

test('a format that no grammar keeps is named, a remark is not, and a strict schema may have either', () => {
  const left: string[] = []
  const schema = object({ link: { ...text, format: 'uri' }, secret: { ...text, format: 'password' } })
  toGrammar(schema, ({ path }) => left.push(path.join('.')))
  assert.deepEqual(left, ['properties.link.format'])
  assert.ok(parseNative(toGrammar(schema)).accepts('{"link":"a b","secret":"c"}'))
})
