import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { ApiError } from '../../src/core/error.ts'
import type { EngineRequest, JsonSchema, OutputFormat, Tool } from '../../src/core/generation.ts'
import { forcesAnswer, planAnswer } from '../../src/engines/text/answer/answer-plan.ts'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import type { ToolFormat } from '../../src/chat-format/tool-format/tool-format.ts'
import { createNativeParser, type NativeGrammar } from '../grammar/native-grammar.ts'
import { engineRequest } from '../harness/requests.ts'
import { renderWith } from '../templates/render.ts'

const parseNative = await createNativeParser()

type Arguments = Readonly<Record<string, string>>
type Notation = { readonly format: ToolFormat; call(name: string, given: Arguments): string }

/** A call in each of two notations; the values of the arguments are JSON. */
const notations: Readonly<Record<'envelope' | 'tagged', Notation>> = {
  envelope: {
    format: formatOf('json-envelope.jinja'),
    call(name, given) {
      const members = Object.entries(given).map(([key, value]) => `"${key}": ${value}`)
      return `<call>\n{"id": "1", "tool": "${name}", "input": {${members.join(', ')}}}\n</call>`
    },
  },
  tagged: {
    format: formatOf('tagged.jinja'),
    call(name, given) {
      const members = Object.entries(given).map(([key, value]) => `<set name="${key}">${value}</set>`)
      return `<run tool="${name}">${members.join('')}</run>`
    },
  },
}

function formatOf(name: string): ToolFormat {
  const source = readFileSync(join(import.meta.dirname, '../fixtures/templates', name), 'utf8')
  return deriveToolFormat(renderWith(source))!
}

const count = { type: 'integer', minimum: 1, maximum: 9 }

function tool(name: string, parameters: JsonSchema, isStrict = false): Tool {
  return { name, description: '', parameters, isStrict, schemaPath: ['tools', name], input: 'json' }
}

const choose = (kind: 'auto' | 'none' | 'required', allowed: readonly string[] | null = null) =>
  ({ kind, parallel: true, allowed }) as const

function calls({ format }: Notation, tools: readonly Tool[]): NativeGrammar {
  const { forced } = planAnswer(engineRequest({ tools, toolChoice: choose('required') }), format)
  assert.ok(forced !== null)
  return parseNative(forced)
}

/** The place in the request for which a plan is refused. */
function refusal(changes: Partial<EngineRequest>, format: ToolFormat | null): string {
  try {
    planAnswer(engineRequest(changes), format)
  } catch (error) {
    assert.ok(error instanceof ApiError && error.reason.code === 'invalid-request')
    const place = (error.reason.path ?? []).join('.')
    assert.ok(error.message.startsWith(place))
    return place
  }
  return assert.fail('The plan was not refused.')
}

for (const [kind, notation] of Object.entries(notations)) {
  const { format, call } = notation
  describe(`tools in the notation ${kind}`, () => {
    const unsupported = {
      type: 'object',
      properties: { a: { type: 'integer', not: { const: 1 } }, n: count },
      required: ['a', 'n'],
    }

    test('a lenient tool keeps all but the keyword that cannot be kept', () => {
      const grammar = calls(notation, [tool('f', unsupported)])
      assert.ok(grammar.accepts(call('f', { a: '1', n: '9' })))
      for (const given of [{ a: '1', n: '10' }, { a: 'true', n: '9' }, { n: '9' }]) {
        assert.ok(!grammar.accepts(call('f', given)), JSON.stringify(given))
      }
    })

    test('a strict one is refused for it', () => {
      const asked = { tools: [tool('f', unsupported, true)] }
      assert.equal(refusal(asked, format), 'tools.f.properties.a.not')
    })

    test('references of an argument lead into the whole schema', () => {
      const parameters = {
        type: 'object',
        properties: { n: { $ref: '#/$defs/count' }, list: { type: 'array', items: { $ref: '#/properties/n' } } },
        required: ['n'],
        $defs: { count },
      }
      for (const isStrict of [true, false]) {
        const grammar = calls(notation, [tool('f', parameters, isStrict)])
        assert.ok(grammar.accepts(call('f', { n: '3', list: '[4, 5]' })))
        assert.ok(!grammar.accepts(call('f', { n: '3', list: '[10]' })))
      }
    })

    test('a malformed keyword costs a lenient tool its own limits, and nobody else theirs', () => {
      const inner = { type: 'object', properties: { b: { type: 'text' } } }
      const malformed = { type: 'object', properties: { n: count, a: inner }, required: ['n'] }
      const good = { type: 'object', properties: { n: count }, required: ['n'] }
      const grammar = calls(notation, [tool('good', good), tool('bad', malformed), tool('better', good)])
      assert.ok(grammar.accepts(call('bad', { n: '3', a: '{"b": [null]}' })))
      for (const name of ['good', 'better']) {
        assert.ok(grammar.accepts(call(name, { n: '3' })))
        assert.ok(!grammar.accepts(call(name, { n: '10' })))
      }
    })

    test('calls beside one another are many, and not without end', () => {
      const grammar = calls(notation, [tool('f', { type: 'object', properties: {} })])
      const several = (count: number) => Array.from({ length: count }, () => call('f', {})).join(format.separator)
      for (const count of [1, 2, 64]) assert.ok(grammar.accepts(several(count)), String(count))
      assert.ok(!grammar.accepts(several(65)))
    })

    test('a schema too large as a whole is refused for a lenient tool too', () => {
      const list = (items: JsonSchema) => ({ type: 'array', minItems: 1_000, items })
      const asked = { tools: [tool('f', { type: 'object', properties: { a: list(list({})) } })] }
      assert.equal(refusal(asked, format), 'tools.f.properties.a.minItems')
    })

    test('many tools that are hard work are refused before they take long', () => {
      const hard = (index: number) => ({ type: ['string', 'null'], pattern: `(a|b)*a(a|b){30}${index}$` })
      const tools = Array.from({ length: 2_000 }, (_, index) =>
        tool(`f${index}`, { type: 'object', properties: { a: hard(index) } }),
      )
      const before = process.cpuUsage()
      assert.match(refusal({ tools }, format), /^tools\.f\d+$/)
      assert.ok(process.cpuUsage(before).user < 5_000_000)
    })
  })
}

test('arguments are an object where a schema leaves that open', () => {
  for (const parameters of [{}, { type: null }, { description: 'Any.' }, { $ref: 'https://example.com/x' }]) {
    const grammar = calls(notations.envelope, [tool('f', parameters)])
    assert.ok(grammar.accepts(notations.envelope.call('f', { a: '[1]' })))
    assert.ok(!grammar.accepts('<call>\n{"id": "1", "tool": "f", "input": 5}\n</call>'))
  }
})

describe('JSON', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string', pattern: '(?<=a)b' }, n: count },
    required: ['a', 'n'],
  }
  const output = (changes: Partial<OutputFormat>): OutputFormat =>
    ({ kind: 'json', schema, schemaPath: ['output', 'schema'], isStrict: false, ...changes }) as OutputFormat

  test('a schema that is not strict binds but for what cannot be kept', () => {
    const { forced } = planAnswer(engineRequest({ output: output({}) }), null)
    const grammar = parseNative(forced ?? '')
    assert.ok(grammar.accepts('{"a":"any","n":3}'))
    for (const answer of ['{"a":"any","n":10}', '{"a":1,"n":3}', '{"n":3}', '[]'])
      assert.ok(!grammar.accepts(answer), answer)
  })

  test('a strict one is refused for it, and one that is malformed always', () => {
    assert.equal(refusal({ output: output({ isStrict: true }) }, null), 'output.schema.properties.a.pattern')
    const malformed = output({ schema: { type: 'object', properties: { a: { type: 'text' } } } })
    assert.equal(refusal({ output: malformed }, null), 'output.schema.properties.a.type')
  })
})

test('whether a plan forces the answer is known without making it', () => {
  const tools = [tool('f', { type: 'object', properties: {} })]
  const json: OutputFormat = { kind: 'json', schema: null, schemaPath: [], isStrict: false }
  for (const format of [null, notations.envelope.format]) {
    for (const output of [json, { kind: 'text' } as const]) {
      for (const toolChoice of [
        choose('auto'),
        choose('none'),
        choose('required'),
        choose('required', []),
        { kind: 'named', name: 'f', parallel: false } as const,
      ]) {
        const request = engineRequest({ tools, output, toolChoice })
        assert.equal(forcesAnswer(request, format), planAnswer(request, format).forced !== null)
      }
    }
  }
})
