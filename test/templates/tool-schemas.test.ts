import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { JsonSchema } from '../../src/core/generation.ts'
import { engineRequest } from '../harness/requests.ts'
import { readOrRefuse } from './compare-prompts.ts'
import { templateFiles } from './template-files.ts'
import { openTemplatePrompts } from './template-prompts.ts'

/** What clients say of a parameter, and templates trip over. */
const parameters: Readonly<Record<string, JsonSchema>> = {
  'a list': { type: 'array', items: { type: 'string' }, description: 'Some.' },
  'a list of anything': { type: 'array' },
  'a list of objects': { type: 'array', items: { type: 'object', properties: { a: { type: 'integer' } } } },
  'a union of types': { type: ['string', 'null'], description: 'Maybe.' },
  alternatives: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  'choices of several types': { enum: ['a', 1, null] },
  'an object in an object': { type: 'object', properties: { b: { type: 'object', properties: {} } } },
  'a mapping': { type: 'object', additionalProperties: { type: 'string' } },
  'a reference': { $ref: '#/$defs/x' },
  'a constant': { const: 5 },
  nothing: {},
}

const declare = (schema: JsonSchema) => {
  const tool = { name: 'look_up', description: 'Looks.', isStrict: false, schemaPath: [], input: 'json' } as const
  return engineRequest({ tools: [{ ...tool, parameters: schema }] })
}

for (const { name, source } of templateFiles) {
  suite(`${name}: a tool is shown whatever its schema says`, async () => {
    const prompts = await openTemplatePrompts(source)
    for (const [title, schema] of Object.entries(parameters)) {
      test(`a tool with a parameter that is ${title} is shown`, async () => {
        const read = await readOrRefuse(prompts, declare({ type: 'object', properties: { place: schema } }))
        assert.ok(read?.shown.includes('look_up'))
      })
    }
    test('without parameters', async () => {
      for (const schema of [{}, { type: 'object' }]) {
        assert.ok((await readOrRefuse(prompts, declare(schema)))?.shown.includes('look_up'))
      }
    })
  })
}

test('a tool on whose schema a template fails is described in the system text', async () => {
  const call = `{{- '<call>{"name": "' ~ call.function.name ~ '", "arguments": ' ~ (call.function.arguments | tojson) ~ '}</call>' }}`
  const source = `{%- for tool in tools or [] %}{%- for name, one in (tool.function.parameters.properties or {}) | items %}
    {%- if one.const is defined %}{{- raise_exception('a constant') }}{%- endif %}{%- endfor %}{{- tool | tojson }}{%- endfor %}
    {%- for message in messages %}{{- '<' ~ message.role ~ '>' ~ (message.content or '') }}
    {%- for call in message.tool_calls or [] %}${call}{%- endfor %}{{- '<end>' }}{%- endfor %}
    {%- if add_generation_prompt %}{{- '<assistant>' }}{%- endif %}`
  const prompts = await openTemplatePrompts(source)
  const shown = async (schema: JsonSchema) =>
    (await readOrRefuse(prompts, declare({ type: 'object', properties: { place: schema } })))?.shown ?? ''
  assert.ok(!(await shown({ type: 'string' })).includes('To call one'))
  const described = await shown({ const: 5 })
  assert.ok(described.includes('look_up') && described.includes('To call one, write it like this'))
})
