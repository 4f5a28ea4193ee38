import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../core/error.ts'
import { createMessagesProtocol } from '../messages-format.ts'

const protocol = createMessagesProtocol({ signatureKey: new Uint8Array(32) })
const look = { name: 'look', description: 'Looks.', input_schema: { type: 'object', properties: { b: {}, a: {} } } }
const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }

function decode(tools: readonly unknown[] | null, toolChoice?: unknown) {
  const messages = [{ role: 'user', content: 'Hi' }]
  return protocol.decode({ model: 'hal-1.0', max_tokens: 100, messages, tools, tool_choice: toolChoice }).request
}

test('a tool keeps its schema as it was written', () => {
  const [tool] = decode([{ ...look, type: 'custom', strict: true, cache_control: { type: 'ephemeral' } }]).tools
  deepEqual(tool, {
    name: 'look',
    description: 'Looks.',
    parameters: look.input_schema,
    isStrict: true,
    schemaPath: ['tools', 0, 'custom', 'input_schema'],
    input: 'json',
    cacheBreakpoint: { lifetime: '5m' },
  })
  equal(JSON.stringify(tool.parameters), JSON.stringify(look.input_schema))
})

test('optional fields of a tool may be null or absent', () => {
  const nulls = { type: null, description: null, strict: null, eager_input_streaming: null, defer_loading: null }
  const bare = { name: 'look', input_schema: {} }
  deepEqual(decode([{ ...bare, ...nulls, cache_control: null, allowed_callers: null }]).tools, decode([bare]).tools)
  equal(decode([bare]).tools[0]?.description, '')
})

test('deferred and eagerly streamed tools are tools like any other', () => {
  equal(decode([{ ...look, defer_loading: true, eager_input_streaming: true, input_examples: [{}] }]).tools.length, 1)
})

test('a broken tool is refused by its field', () => {
  const cases: [unknown, RegExp][] = [
    [{ name: 'look' }, /^tools\.0\.custom\.input_schema: Field required$/],
    [{ name: 'look', input_schema: 'x' }, /^tools\.0\.custom\.input_schema: /],
    [
      { name: 'look', input_schema: { type: 'array' } },
      /^tools\.0\.custom\.input_schema\.type: Input should be 'object'$/,
    ],
    [{ input_schema: {} }, /^tools\.0\.name: Field required$/],
    [{ name: 'a b', input_schema: {} }, /^tools\.0\.name: String should match pattern/],
    [{ name: 'x'.repeat(129), input_schema: {} }, /^tools\.0\.name: /],
    [{ ...look, allowed_callers: ['code_execution_20260120'] }, /^tools\.0\.allowed_callers: /],
    [5, /^tools\.0: /],
  ]
  for (const [tool, message] of cases) throws(() => decode([tool]), { message })
  equal(decode([{ ...look, allowed_callers: ['direct', 'code_execution_20260120'] }]).tools.length, 1)
})

test('tools the client runs are offered as functions', () => {
  const names = (types: readonly string[]) =>
    decode(types.map((type) => ({ type, name: null }))).tools.map(({ name }) => name)
  deepEqual(names(['bash_20250124', 'text_editor_20250124', 'text_editor_20250728', 'memory_20250818']), [
    'bash',
    'str_replace_editor',
    'str_replace_based_edit_tool',
    'memory',
  ])
  const [editor] = decode([
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 100 },
  ]).tools
  deepEqual(editor?.parameters['required'], ['command', 'path'])
})

const namesOf = (tools: readonly object[]) => decode(tools).tools.map(({ name }) => name)

test('a server tool is dropped while the client has a tool of its own', () => {
  for (const server of [
    search,
    { type: 'mcp_toolset', mcp_server_name: 'x' },
    { type: 'hologram_20270101', name: 'h' },
  ]) {
    deepEqual(namesOf([server, look]), ['look'])
  }
})

test('a server tool alone is refused by its name', () => {
  throws(() => decode([search]), { message: "tools.0: server tool 'web_search_20250305' is not available" })
  throws(() => decode([{ type: 'tool_search_tool_regex_20251119', name: 'find' }, search]), {
    message: /^tools\.1: server tool/,
  })
  throws(() => decode([{ type: 'hologram_20270101' }]), {
    message: "tools.0.type: tool type 'hologram_20270101' is not known",
  })
})

test('a tool that searches for tools is dropped, with or without others', () => {
  const finder = { type: 'tool_search_tool_bm25_20251119', name: 'find' }
  deepEqual(namesOf([finder, { ...look, defer_loading: true }]), ['look'])
  deepEqual(namesOf([finder]), [])
})

test('a tool of the client that cannot be served does not go missing', () => {
  for (const type of ['computer_20251124', 'computer_toolset_20260801', 'browser_toolset_20260801']) {
    throws(() => decode([{ type, name: 'see' }, look]), { message: `tools.0: tool type '${type}' needs image input` })
  }
  throws(() => decode([{ ...look, type: 'function' }, look]), {
    message: "tools.0.type: tool type 'function' is not known",
  })
})

test('a tool that the client runs in a way of its own has a name like any other', () => {
  throws(() => decode([{ type: 'bash_20250124', name: '<|im_end|>' }]), {
    message: /^tools\.0\.name: String should match pattern/,
  })
})

test('a tool name that is used twice is refused', () => {
  throws(
    () => decode([search, look, { ...look }]),
    (error) => {
      ok(error instanceof ApiError && error.reason.code === 'invalid-request')
      equal(error.reason.detail, 'tool-name-conflict')
      equal(error.message, 'tools.2.name: Tool names must be unique')
      return true
    },
  )
  equal(decode([search, { ...look, name: 'web_search' }]).tools.length, 1)
})

test('every tool choice has its effect', () => {
  deepEqual(decode([look]).toolChoice, { kind: 'auto', parallel: true, allowed: null })
  deepEqual(decode([look], { type: 'auto', disable_parallel_tool_use: true }).toolChoice, {
    kind: 'auto',
    parallel: false,
    allowed: null,
  })
  deepEqual(decode([look], { type: 'any', disable_parallel_tool_use: null }).toolChoice, {
    kind: 'required',
    parallel: true,
    allowed: null,
  })
  deepEqual(decode([look], { type: 'tool', name: 'look' }).toolChoice, { kind: 'named', name: 'look', parallel: true })
  const none = decode([look], { type: 'none' })
  deepEqual([none.toolChoice.kind, none.tools.length], ['none', 1])
})

test('a choice that no tool can meet is refused', () => {
  throws(() => decode([], { type: 'any' }), { message: /^tool_choice: / })
  throws(() => decode(null, { type: 'tool', name: 'look' }), { message: /^tool_choice\.name: Tool 'look' not found/ })
  throws(() => decode([look, search], { type: 'tool', name: 'web_search' }), { message: /^tool_choice\.name: / })
  for (const type of ['auto', 'none']) equal(decode([], { type }).tools.length, 0)
})
