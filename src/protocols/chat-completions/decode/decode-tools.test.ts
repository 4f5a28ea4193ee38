import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { decodeChat as decode } from '../../../../test/harness/decode-chat.ts'
import { ApiError } from '../../../core/error.ts'

type Fields = Record<string, unknown>

function refusalOf(fields: Fields): readonly unknown[] {
  try {
    decode(fields)
  } catch (error) {
    assert.ok(error instanceof ApiError && error.reason.code === 'invalid-request')
    const { path, fault, detail } = error.reason
    return [path?.join('.'), fault, ...(detail === undefined ? [] : [detail])]
  }
  throw new Error('accepted')
}

const f = { type: 'function', function: { name: 'f' } }
const g = {
  type: 'function',
  function: { name: 'mcp.g-1', description: 'D', strict: true, parameters: { type: 'object' } },
}
const c = { type: 'custom', custom: { name: 'c', description: 'C', format: { type: 'text' } } }
const search = { type: 'web_search_20250305', name: 'web_search' }

suite('tools', () => {
  test('functions and text tools are decoded', () => {
    const { tools } = decode({ tools: [f, g, c] })
    assert.deepEqual(tools.slice(0, 2), [
      {
        name: 'f',
        description: '',
        parameters: { type: 'object', properties: {} },
        isStrict: false,
        schemaPath: ['tools', 0, 'function', 'parameters'],
        input: 'json',
      },
      {
        name: 'mcp.g-1',
        description: 'D',
        parameters: { type: 'object' },
        isStrict: true,
        schemaPath: ['tools', 1, 'function', 'parameters'],
        input: 'json',
      },
    ])
    assert.deepEqual(
      [tools[2]?.name, tools[2]?.input, Object.keys(tools[2]?.parameters['properties'] ?? {})],
      ['c', 'text', ['input']],
    )
  })

  test('a grammar for a text tool is refused', () => {
    const grammar = {
      type: 'custom',
      custom: { name: 'c', format: { type: 'grammar', grammar: { definition: '', syntax: 'lark' } } },
    }
    assert.deepEqual(refusalOf({ tools: [f, grammar] }), ['tools.1.custom.format.type', 'unsupported-value'])
  })

  test('tools run by a server are dropped while one of the client remains', () => {
    assert.deepEqual(
      decode({ tools: [search, f] }).tools.map(({ name }) => name),
      ['f'],
    )
    assert.deepEqual(refusalOf({ tools: [search] }), ['tools.0.type', 'unsupported-value'])
  })

  test('a name used twice is a conflict, whatever the kinds', () => {
    const twin = { type: 'custom', custom: { name: 'f' } }
    assert.deepEqual(refusalOf({ tools: [search, f, twin] }), ['tools.2.custom.name', 'value', 'tool-name-conflict'])
    assert.deepEqual(refusalOf({ functions: [{ name: 'f' }, { name: 'f' }] }), [
      'functions.1.name',
      'value',
      'tool-name-conflict',
    ])
  })

  test('a tool without its definition is refused', () => {
    assert.deepEqual(refusalOf({ tools: [{ type: 'function' }] }), ['tools.0.function', 'missing'])
    assert.deepEqual(refusalOf({ tools: [{ type: 'custom' }] }), ['tools.0.custom', 'missing'])
  })

  test('parameters that can be no object are refused by their field, and what is no type at all is not', () => {
    const withType = (type: unknown) => ({ name: 'f', parameters: { type } })
    const asTool = (type: unknown) => ({ tools: [{ type: 'function', function: withType(type) }] })
    for (const type of ['array', 'string', 'integer', 'number', 'boolean', 'null', ['array', 'null']]) {
      assert.deepEqual(refusalOf(asTool(type)), ['tools.0.function.parameters.type', 'value'], String(type))
      assert.deepEqual(refusalOf({ functions: [withType(type)] }), ['functions.0.parameters.type', 'value'])
    }
    for (const type of ['object', ['object', 'null'], null, 'None', undefined]) decode(asTool(type))
  })

  test('more tools than the format names are fine, up to a limit', () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ type: 'function', function: { name: `f${index}` } }))
    assert.equal(decode({ tools: many(1024) }).tools.length, 1024)
    assert.deepEqual(refusalOf({ tools: many(1025) }), ['tools', 'value'])
  })
})

suite('tool choice', () => {
  const tools = [f, g, c]

  test('a tool choice in a word has its effect', () => {
    assert.deepEqual(decode({}).toolChoice, { kind: 'none', parallel: true, allowed: null })
    assert.deepEqual(decode({ tools: [], tool_choice: 'auto' }).toolChoice, {
      kind: 'none',
      parallel: true,
      allowed: null,
    })
    assert.deepEqual(decode({ tools }).toolChoice, { kind: 'auto', parallel: true, allowed: null })
    for (const kind of ['none', 'auto', 'required']) {
      const { toolChoice } = decode({ tools, tool_choice: kind, parallel_tool_calls: false })
      assert.deepEqual(toolChoice, { kind, parallel: false, allowed: null })
    }
    assert.deepEqual(refusalOf({ tool_choice: 'required' }), ['tool_choice', 'value'])
    assert.deepEqual(refusalOf({ tools, tool_choice: 'any' }), ['tool_choice', 'value'])
  })

  test('a named tool must be there and of that type', () => {
    const named = { type: 'function', function: { name: 'f' } }
    assert.deepEqual(decode({ tools, tool_choice: named }).toolChoice, { kind: 'named', name: 'f', parallel: true })
    assert.deepEqual(decode({ tools, tool_choice: { type: 'custom', custom: { name: 'c' } } }).toolChoice, {
      kind: 'named',
      name: 'c',
      parallel: true,
    })
    assert.deepEqual(refusalOf({ tool_choice: named }), ['tool_choice.function.name', 'value'])
    assert.deepEqual(refusalOf({ tools, tool_choice: { type: 'function', function: { name: 'c' } } }), [
      'tool_choice.function.name',
      'value',
    ])
    assert.deepEqual(refusalOf({ tools, tool_choice: { type: 'function' } }), ['tool_choice.function', 'missing'])
    assert.deepEqual(refusalOf({ tools, tool_choice: { type: 'web_search' } }), [
      'tool_choice.type',
      'unsupported-value',
    ])
  })

  test('allowed tools restrict, the list stays whole', () => {
    const choose = (mode: string, members: readonly unknown[]) => ({
      tools,
      tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools: members } },
    })
    const request = decode(choose('required', [f, { type: 'custom', custom: { name: 'c' } }]))
    assert.deepEqual(request.toolChoice, { kind: 'required', parallel: true, allowed: ['f', 'c'] })
    assert.equal(request.tools.length, 3)
    assert.deepEqual(refusalOf(choose('auto', [{ type: 'function', function: { name: 'x' } }])), [
      'tool_choice.allowed_tools.tools.0.function.name',
      'value',
    ])
    assert.deepEqual(refusalOf(choose('required', [])), ['tool_choice.allowed_tools.tools', 'value'])
    assert.deepEqual(refusalOf(choose('x', [f])), ['tool_choice.allowed_tools.mode', 'value'])
    assert.deepEqual(refusalOf({ tools, tool_choice: { type: 'allowed_tools' } }), [
      'tool_choice.allowed_tools',
      'missing',
    ])
  })
})

suite('the older form', () => {
  const functions = [{ name: 'f', parameters: { type: 'object' } }]

  test('functions become tools, one call at a time', () => {
    const { tools, toolChoice } = decode({ functions })
    assert.deepEqual(tools[0]?.name, 'f')
    assert.deepEqual(toolChoice, { kind: 'auto', parallel: false, allowed: null })
    assert.deepEqual(decode({ functions, function_call: 'none' }).toolChoice, {
      kind: 'none',
      parallel: false,
      allowed: null,
    })
    assert.deepEqual(decode({ functions, function_call: { name: 'f' } }).toolChoice, {
      kind: 'named',
      name: 'f',
      parallel: false,
    })
  })

  test('unknown names and mixtures with tools are refused', () => {
    assert.deepEqual(refusalOf({ functions, function_call: { name: 'g' } }), ['function_call.name', 'value'])
    assert.deepEqual(refusalOf({ function_call: { name: 'g' } }), ['function_call.name', 'value'])
    assert.deepEqual(refusalOf({ tools: [f], function_call: 'auto' }), ['function_call', 'value'])
    assert.deepEqual(refusalOf({ tools: [f], functions }), ['functions', 'value'])
    assert.deepEqual(refusalOf({ functions, tool_choice: 'required' }), ['tool_choice', 'value'])
    decode({ tools: [f], functions: [] })
    decode({ tools: [], functions })
  })
})
