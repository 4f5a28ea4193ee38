import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import type { JsonSchema, Tool } from '../../src/core/generation.ts'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import { createToolCallParser } from '../../src/chat-format/tool-format/parse-tool-calls.ts'
import type { ToolFormat } from '../../src/chat-format/tool-format/tool-format.ts'
import { planAnswer } from '../../src/engines/text/answer/answer-plan.ts'
import { createRandom } from '../campaigns/random.ts'
import { createDeriver } from '../grammar/derive.ts'
import { createNativeParser } from '../grammar/native-grammar.ts'
import { parseGbnf } from '../grammar/parse-gbnf.ts'
import { validate } from '../grammar/validate.ts'
import { engineRequest } from '../harness/requests.ts'
import { renderWith } from './render.ts'
import { synthesize } from './synthetic.ts'

const texts: readonly JsonSchema[] = [
  { type: 'string', pattern: '^[A-Z]{2}-[0-9]{3}$' },
  { type: 'string', pattern: '[<>/]' },
  { type: 'string', pattern: '^[^a]*$', minLength: 2, maxLength: 9 },
  { type: 'string', format: 'date' },
  { type: 'string', format: 'ipv4' },
  { type: 'string', minLength: 3 },
  { type: 'string', maxLength: 4 },
  { type: 'string', minLength: 20, maxLength: 120 },
  { type: 'string', maxLength: 0 },
  { allOf: [{ minLength: 2 }, { maxLength: 3 }], type: 'string' },
]

const toolOf = (parameters: JsonSchema, isStrict = false): Tool => ({
  name: 'get_weather',
  description: '',
  parameters: {
    type: 'object',
    properties: parameters,
    required: Object.keys(parameters),
    additionalProperties: false,
  },
  isStrict,
  schemaPath: ['tools', 0],
  input: 'json',
})

const plan = (format: ToolFormat, tool: Tool) => {
  const toolChoice = { kind: 'required', parallel: false, allowed: null } as const
  return planAnswer(engineRequest({ tools: [tool], toolChoice }), format)
}

/** Made-up templates that write each argument between tags of its own. */
function taggedFormats(count: number): ToolFormat[] {
  const formats: ToolFormat[] = []
  for (let seed = 0; formats.length < count; seed++) {
    const { family, source } = synthesize(createRandom(seed))
    const format = family === 'tagged' ? deriveToolFormat(renderWith(source)) : null
    if (format !== null && format.lead === '') formats.push(format)
  }
  return formats
}

test('arguments in tags keep pattern, format and lengths of their schemas', async () => {
  const parseNative = await createNativeParser()
  const random = createRandom(7)
  for (const format of taggedFormats(12)) {
    for (const schema of texts) {
      const tool = toolOf({ place: schema, days: { type: 'integer' } })
      const { forced, unenforced } = plan(format, tool)
      assert.deepEqual(unenforced, [])
      const derive = createDeriver(parseGbnf(forced ?? ''), (below) => random.integer(0, below - 1))
      const native = parseNative(forced ?? '')
      for (let round = 0; round < 6; round++) {
        const answer = derive()
        assert.ok(native.accepts(answer), answer)
        const parser = createToolCallParser(format, [tool])
        const parts = [...parser.feed(answer), ...parser.end()]
        const json = parts.map((part) => (part.kind === 'arguments' ? part.text : '')).join('')
        const label = `${JSON.stringify(schema)}\n${JSON.stringify(format.notation)}\n${answer}`
        assert.equal(validate(tool.parameters, JSON.parse(json)), null, label)
        assert.equal(parts.filter(({ kind }) => kind === 'call-end').length, 1, label)
      }
    }
  }
})

test('what arguments in tags cannot keep of a schema is named, and kept or refused where it is strict', () => {
  const [format] = taggedFormats(1)
  const schema = { type: 'string', maxLength: 5_000, minLength: 1 }
  const { unenforced } = plan(format!, toolOf({ place: schema, note: { type: 'string', not: { const: 'a' } } }))
  assert.deepEqual(unenforced, [
    ['tools', 0, 'properties', 'place', 'maxLength'],
    ['tools', 0, 'properties', 'note', 'not'],
  ])
  const strict = plan(format!, toolOf({ place: schema }, true))
  assert.deepEqual(strict.unenforced, [])
  const [random, parameters] = [createRandom(1), { properties: { place: schema } }]
  const answer = createDeriver(parseGbnf(strict.forced ?? ''), (below) => random.integer(0, below - 1))()
  const parts = createToolCallParser(format!, [toolOf({ place: schema })]).feed(answer)
  const json = parts.map((part) => (part.kind === 'arguments' ? part.text : '')).join('')
  assert.equal(validate(parameters, JSON.parse(json)), null)
  const pattern = { ...schema, pattern: '^a' }
  assert.throws(() => plan(format!, toolOf({ place: pattern }, true)), /place\.maxLength/)
})

suite('bounds of many texts in tags', async () => {
  const path = new URL('../fixtures/templates/tagged.jinja', import.meta.url)
  // Closed as long as the tags of models that are taught to program.
  const format = deriveToolFormat(renderWith(readFileSync(path, 'utf8').replace('</set>', '</parameter>')))!
  const parseNative = await createNativeParser()
  const alike = Array.from({ length: 30 }, () => 256)
  const unlike = Array.from({ length: 30 }, (_, index) => 100 + 10 * index)

  const bounded = (bounds: readonly number[], isStrict = false) => {
    const own = bounds.map((maxLength, index) => [`text_${index}`, { type: 'string', maxLength }] as const)
    return plan(format, toolOf(Object.fromEntries(own), isStrict))
  }
  const call = (lengths: readonly number[]) => {
    const given = lengths.map((length, index) => `<set name="text_${index}">${'x'.repeat(length)}</parameter>`)
    return `<run tool="get_weather">${given.join('')}</run>`
  }
  /** The arguments that may be longer than their bound. */
  const unbounded = (grammar: string | null) => {
    const native = parseNative(grammar ?? '')
    assert.ok(native.accepts(call(unlike)))
    return unlike.flatMap((_, longer) => {
      const lengths = unlike.map((length, index) => (index === longer ? length + 1 : length))
      return native.accepts(call(lengths)) ? [`text_${longer}`] : []
    })
  }

  test('those that are alike have one rule', () => {
    const [one, all] = [bounded([256]), bounded(alike)]
    assert.deepEqual(all.unenforced, [])
    assert.ok((all.forced?.length ?? 0) < (one.forced?.length ?? 0) * 1.1)
  })

  test('those that are too many for a grammar are named, and the others kept', () => {
    const { forced, unenforced } = bounded(unlike)
    assert.deepEqual(
      unenforced,
      unbounded(forced).map((name) => ['tools', 0, 'properties', name, 'maxLength']),
    )
    assert.ok(unenforced.length > 0 && unenforced.length < unlike.length)
  })

  test('those of a strict tool are kept, however many', () => {
    const { forced, unenforced } = bounded(unlike, true)
    assert.deepEqual(unenforced, [])
    assert.deepEqual(unbounded(forced), [])
  })

  test('patterns that repeat much leave room for what else is said', () => {
    const patterned = Array.from({ length: 20 }, (_, index) => {
      const allOf = [{ pattern: '^[^\\n\\r]*$' }, { pattern: `^[\\s\\S]{0,${300 + index}}$` }]
      return [`text_${index}`, { type: 'string', allOf }] as const
    })
    const { forced, unenforced } = plan(format, toolOf({ ...Object.fromEntries(patterned), text_20: { enum: ['xx'] } }))
    assert.ok(unenforced.length > 0 && unenforced.length < patterned.length * 2)
    const native = parseNative(forced ?? '')
    const ones = patterned.map(() => 1)
    assert.ok(native.accepts(call([...ones, 2])))
    assert.ok(!native.accepts(call([...ones, 3])))
  })
})

test('an argument in tags that nothing satisfies is named where it is optional, and refused where it is required', () => {
  const [format] = taggedFormats(1)
  const contradiction = { type: 'integer', minimum: 2, maximum: 1 }
  const tool = toolOf({ place: { type: 'string' }, count: contradiction })
  const optional = { ...tool, parameters: { ...tool.parameters, required: ['place'] } }
  assert.deepEqual(plan(format!, optional).unenforced, [['tools', 0, 'properties', 'count']])
  assert.throws(() => plan(format!, tool), /tools\.0\.properties\.count: no value can satisfy/)
})
