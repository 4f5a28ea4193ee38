// Whether a value keeps a schema, by our own check, by another one of ours, and by ajv.

import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { JsonSchema } from '../../src/core/generation.ts'
import { createValueCheck } from '../../src/grammar/check-value.ts'
import { SchemaFault } from '../../src/grammar/schema-fault.ts'
import { bombs } from '../structured/schema-bombs.ts'
import { toGrammar } from './compile.ts'
import { createDeriver, createRandom, type Random } from './derive.ts'
import { parseGbnf } from './parse-gbnf.ts'
import { randomSchema, withDefinitions } from './random-schema.ts'

const keeps = (schema: JsonSchema, value: unknown) => createValueCheck(schema).check(value) === null

/** Makes values of a schema; null where there are none, or more than the schema allows. */
function deriverOf(schema: JsonSchema, random: Random): (() => string) | null {
  let isWhole = true
  try {
    const grammar = toGrammar(schema, () => (isWhole = false))
    return isWhole ? createDeriver(parseGbnf(grammar), random) : null
  } catch (error) {
    ok(error instanceof SchemaFault, String(error))
    return null
  }
}

test('what our grammars derive keeps the schema that they were made of', () => {
  let derived = 0
  for (let seed = 0; seed < 300; seed++) {
    const random = createRandom(seed)
    const schema = withDefinitions(random, randomSchema(random))
    const { check } = createValueCheck(schema)
    const derive = deriverOf(schema, random)
    for (let time = 0; derive !== null && time < 5; time++) {
      const text = derive()
      deepEqual(check(JSON.parse(text)), null, `${JSON.stringify(schema)} ${text}`)
      derived += 1
    }
  }
  ok(derived > 500, String(derived))
})

test('it agrees with another validator on values that keep a schema and on those that do not', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false, allowUnionTypes: true })
  let [kept, broken] = [0, 0]
  for (let seed = 0; seed < 200; seed++) {
    const random = createRandom(seed)
    const [schema, other] = [randomSchema(random), randomSchema(random)]
    const judge = ajv.compile(schema)
    const { check } = createValueCheck(schema)
    for (const from of [schema, other, {}]) {
      const derive = deriverOf(from, random)
      for (let time = 0; derive !== null && time < 3; time++) {
        const value: unknown = JSON.parse(derive())
        const isKept = check(value) === null
        // Doubles lose 4.1 / 0.01, which ajv takes for another multiple.
        if (JSON.stringify(schema).includes('multipleOf')) continue
        equal(isKept, judge(value), `${JSON.stringify(schema)} ${JSON.stringify(value)}`)
        if (isKept) kept += 1
        else broken += 1
      }
    }
  }
  ok(kept > 200 && broken > 200, `${kept} ${broken}`)
})

const parseSchema = (text: string) => JSON.parse(text) as JsonSchema

test('keywords that no grammar can say are kept here', () => {
  const cases: readonly (readonly [JsonSchema, unknown, unknown])[] = [
    [{ not: { const: 'x' } }, 'y', 'x'],
    [parseSchema('{"if":{"required":["a"]},"then":{"required":["b"]}}'), { a: 1, b: 1 }, { a: 1 }],
    [{ if: { required: ['a'] }, else: { required: ['b'] } }, { a: 1 }, {}],
    [{ dependentRequired: { a: ['b'] } }, {}, { a: 1 }],
    [{ dependentSchemas: { a: { required: ['b'] } } }, { a: 1, b: 1 }, { a: 1 }],
    [{ contains: { const: 1 }, maxContains: 1 }, [1, 2], [1, 1]],
    [{ prefixItems: [{ type: 'string' }], items: false }, ['a'], ['a', 1]],
    [{ items: [{ type: 'string' }], additionalItems: { type: 'integer' } }, ['a', 1], ['a', 'b']],
    [
      { uniqueItems: true },
      [{ a: 1, b: 2 }, { a: 1 }],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
    [{ propertyNames: { maxLength: 1 } }, { a: 1 }, { ab: 1 }],
    [{ patternProperties: { '^a': { type: 'integer' } }, additionalProperties: false }, { ab: 1 }, { b: 1 }],
    [{ type: 'object', additionalProperties: { type: 'integer' } }, { a: 1 }, { a: 'x' }],
    [{ type: 'string', nullable: true }, null, 1],
    [{ multipleOf: 0.01 }, 4.1, 4.105],
    [{ minimum: 1, exclusiveMinimum: true }, 2, 1],
  ]
  for (const [schema, good, bad] of cases) {
    ok(keeps(schema, good), JSON.stringify([schema, good]))
    ok(!keeps(schema, bad), JSON.stringify([schema, bad]))
  }
})

test('it says where a value is wrong, and which keywords are a remark to it', () => {
  const schema = {
    type: 'object',
    properties: { days: { type: 'integer', maximum: 9 }, at: { type: 'string', format: 'date' } },
  }
  const { check } = createValueCheck(schema)
  deepEqual(check({ days: 12 }), { path: ['days'], keyword: 'maximum' })
  deepEqual(check('{"days":1}'), { path: [], keyword: 'type' })
  equal(check({ days: 1, at: 'soon' }), null)
})

test('neither a pattern nor a value makes the check take long, or end in anything but a verdict', () => {
  const slow = createValueCheck({ type: 'string', pattern: '^(a+)+$' })
  ok(slow.check(`${'a'.repeat(50_000)}b`) !== null)
  const tree = { $ref: '#/$defs/node', $defs: { node: { type: 'array', items: { $ref: '#/$defs/node' } } } }
  const deep: unknown = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000))
  ok(createValueCheck(tree).check(deep) !== null)
  throws(() => createValueCheck({ anyOf: [] }), SchemaFault)
  for (const { schema } of bombs) {
    try {
      createValueCheck(schema as JsonSchema).check({ a: [{ a: 1 }] })
    } catch (error) {
      ok(error instanceof SchemaFault, String(error))
    }
  }
})
