import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { z } from 'zod'
import type { JsonSchema } from '../../src/core/generation.ts'
import { toGrammar } from './compile.ts'
import { createDeriver, createRandom } from './derive.ts'
import { createNativeParser } from './native-grammar.ts'
import { parseGbnf } from './parse-gbnf.ts'
import { validate } from './validate.ts'

const folder = join(import.meta.dirname, '../../../shared/clients')
const recorded = existsSync(folder) ? recordedSchemas() : []
const parseNative = await createNativeParser()

describe(`schemas that clients sent${recorded.length === 0 ? ' (none at hand: shared/clients is absent)' : ''}`, () => {
  for (const [index, schema] of recorded.entries()) {
    test(`${String(index + 1)}: ${titleOf(schema)}`, () => checkBenign(schema, index % 3 === 0))
  }
})

describe('schemas as generators write them', () => {
  for (const [index, schema] of generatedSchemas().entries()) {
    test(`${String(index + 1)}: ${titleOf(schema)}`, () => checkBenign(schema, index % 3 === 0))
  }
})

/** Compiles, sets three derived answers against the schema, and shows some grammars to the native parser. */
function checkBenign(schema: JsonSchema, isForNative: boolean): void {
  const text = toGrammar(schema)
  const derive = createDeriver(parseGbnf(text), createRandom(text.length))
  const native = isForNative ? parseNative(text) : null
  for (let round = 0; round < 3; round++) {
    const answer = derive()
    assert.equal(validate(schema, JSON.parse(answer)), null, answer)
    assert.ok(native?.accepts(answer) !== false, answer)
  }
}

function titleOf(schema: JsonSchema): string {
  return JSON.stringify({ ...schema, $schema: undefined }).slice(0, 70)
}

/** Every different schema in the recorded bodies, wherever the two formats hold one. */
function recordedSchemas(): JsonSchema[] {
  const texts = new Set<string>()
  for (const file of globSync('**/*.json', { cwd: folder })) {
    const { body } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as { body?: Body | null }
    const schemas = [
      ...(body?.tools ?? []).flatMap((tool) => [tool.input_schema, tool.parameters, tool.function?.parameters]),
      body?.response_format?.json_schema?.schema,
      body?.output_config?.format?.schema,
    ]
    for (const schema of schemas) if (typeof schema === 'object' && schema !== null) texts.add(JSON.stringify(schema))
  }
  return [...texts].map((text) => JSON.parse(text) as JsonSchema)
}

type Body = {
  readonly tools?: readonly {
    readonly input_schema?: unknown
    readonly parameters?: unknown
    readonly function?: { readonly parameters?: unknown }
  }[]
  readonly response_format?: { readonly json_schema?: { readonly schema?: unknown } }
  readonly output_config?: { readonly format?: { readonly schema?: unknown } }
}

function generatedSchemas(): JsonSchema[] {
  const leaves = [...zodSchemas(), ...pydanticSchemas(), ...serverSchemas()]
  // Each leaf alone, as a required, an optional and a nullable field, and in a list.
  return leaves.flatMap((leaf) => {
    const { $schema, $defs, definitions, ...inner } = leaf
    const around = {
      ...($schema === undefined ? {} : { $schema }),
      ...($defs === undefined ? {} : { $defs }),
      ...(definitions === undefined ? {} : { definitions }),
    }
    const nullable = { anyOf: [inner, { type: 'null' }], default: null, title: 'Maybe' }
    if (JSON.stringify(inner).includes('"$ref":"#"')) return [leaf]
    return [
      leaf,
      {
        ...around,
        type: 'object',
        properties: { value: inner, note: { type: 'string' } },
        required: ['value'],
        additionalProperties: false,
      },
      { ...around, type: 'object', properties: { value: nullable, values: { type: 'array', items: inner } } },
    ]
  })
}

function zodSchemas(): JsonSchema[] {
  const category: z.ZodType = z.object({
    name: z.string(),
    get children() {
      return z.array(category)
    },
  })
  const types: readonly z.ZodType[] = [
    z.object({ id: z.int(), age: z.number().int().nonnegative(), ratio: z.number().min(0).max(1) }),
    z.object({ mail: z.email(), site: z.url().optional(), key: z.uuid(), at: z.iso.datetime(), on: z.iso.date() }),
    z.object({ time: z.iso.time(), address: z.ipv4(), code: z.string().regex(/^[A-Z]{3}-\d{4}$/), token: z.cuid2() }),
    z.object({
      name: z.string().min(1).max(200),
      bio: z.string().max(5000).nullable(),
      tags: z.array(z.string()).max(20),
    }),
    z.object({ level: z.enum(['low', 'high']), kind: z.literal('x'), any: z.any(), unknown: z.unknown().optional() }),
    z.discriminatedUnion('type', [
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({ type: z.literal('image'), url: z.string(), width: z.number().positive() }),
    ]),
    z.union([z.string(), z.number(), z.boolean(), z.null()]),
    z.record(z.string(), z.number()),
    z.record(z.enum(['en', 'fr']), z.string()),
    z.tuple([z.string(), z.int()]),
    z.tuple([z.string()], z.boolean()),
    z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() })),
    z.looseObject({ a: z.string() }),
    z.strictObject({ a: z.string().default('x'), b: z.int32(), c: z.float32() }),
    z.object({ even: z.number().multipleOf(0.01), big: z.int().gt(-5).lt(10), when: z.string().startsWith('on ') }),
    category,
    z.string().trim().toLowerCase(),
    z.number().describe('a number'),
    z.array(z.array(z.number()).length(3)).min(1),
  ]
  return types.flatMap((type) => [
    z.toJSONSchema(type) as JsonSchema,
    z.toJSONSchema(type, { target: 'draft-7', io: 'input', reused: 'ref' }) as JsonSchema,
  ])
}

function pydanticSchemas(): JsonSchema[] {
  const $defs = {
    Colour: { enum: ['red', 'green'], title: 'Colour', type: 'string' },
    Point: {
      properties: { x: { title: 'X', type: 'number' }, y: { default: 0.0, title: 'Y', type: 'number' } },
      required: ['x'],
      title: 'Point',
      type: 'object',
    },
    Node: {
      properties: {
        value: { type: 'integer' },
        children: { items: { $ref: '#/$defs/Node' }, title: 'Children', type: 'array' },
      },
      required: ['value'],
      type: 'object',
    },
    Cat: {
      properties: { kind: { const: 'cat', default: 'cat', type: 'string' }, lives: { type: 'integer' } },
      required: ['kind', 'lives'],
      type: 'object',
    },
    Dog: {
      properties: { kind: { const: 'dog', type: 'string' }, name: { type: 'string' } },
      required: ['kind'],
      type: 'object',
    },
  }
  const fields: readonly JsonSchema[] = [
    { $ref: '#/$defs/Colour', description: 'beside' },
    { allOf: [{ $ref: '#/$defs/Colour' }], default: 'red', description: 'As version 1 wrote it.' },
    { anyOf: [{ $ref: '#/$defs/Point' }, { type: 'null' }], default: null },
    { $ref: '#/$defs/Node' },
    {
      discriminator: { mapping: { cat: '#/$defs/Cat', dog: '#/$defs/Dog' }, propertyName: 'kind' },
      oneOf: [{ $ref: '#/$defs/Cat' }, { $ref: '#/$defs/Dog' }],
    },
    { additionalProperties: { anyOf: [{ type: 'string' }, { type: 'integer' }] }, title: 'Map', type: 'object' },
    { exclusiveMinimum: 0, maximum: 100.5, title: 'Percent', type: 'number' },
    { format: 'date-time', title: 'At', type: 'string' },
    { format: 'uri', maxLength: 2083, minLength: 1, title: 'Url', type: 'string' },
    { anyOf: [{ type: 'integer' }, { type: 'number' }, { type: 'string' }], title: 'Loose' },
    { maxItems: 2, minItems: 2, prefixItems: [{ type: 'string' }, { type: 'integer' }], title: 'Pair', type: 'array' },
    { enum: [1, 2, 3], title: 'Level', type: 'integer' },
    { anyOf: [{ type: 'number' }, { pattern: '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$', type: 'string' }], title: 'Decimal' },
  ]
  return fields.map((field) => ({ title: 'Model', ...field, $defs }))
}

function serverSchemas(): JsonSchema[] {
  return [
    { type: 'object' },
    { type: 'object', properties: {} },
    { type: 'object', properties: {}, required: [], additionalProperties: false },
    {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'A path' },
        head: { type: 'number' },
        tail: { type: 'number' },
      },
      required: ['path'],
    },
    {
      type: 'object',
      properties: {
        edits: {
          type: 'array',
          items: {
            type: 'object',
            properties: { oldText: { type: 'string' }, newText: { type: 'string' } },
            required: ['oldText', 'newText'],
            additionalProperties: false,
          },
        },
        dryRun: { type: 'boolean', default: false },
      },
      required: ['edits'],
    },
    {
      type: 'object',
      properties: {
        owner: { type: 'string' },
        page: { type: 'number', minimum: 1 },
        perPage: { type: 'number', minimum: 1, maximum: 100 },
        sort: { type: 'string', enum: ['created', 'updated'] },
      },
      required: ['owner'],
    },
    {
      type: 'object',
      properties: {
        query: { type: 'string' },
        filter: { type: 'object', additionalProperties: true },
        limit: { type: 'integer', minimum: 1, maximum: 1000, default: 10 },
      },
      anyOf: [{ required: ['query'] }, { required: ['filter'] }],
    },
    {
      type: 'object',
      properties: {
        timeout: { type: 'integer', exclusiveMinimum: 0, maximum: 600_000 },
        env: { type: 'object', additionalProperties: { type: 'string' } },
        cwd: { type: ['string', 'null'] },
      },
    },
    {
      type: 'object',
      properties: {
        selector: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
        button: { enum: ['left', 'right', null] },
      },
    },
    {
      type: 'object',
      properties: {
        op: { type: 'string', nullable: true, enum: ['eq', 'ne'] },
        at: { type: 'string', format: 'date' },
      },
      example: {},
    },
  ]
}
