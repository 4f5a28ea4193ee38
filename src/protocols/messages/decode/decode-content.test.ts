import { deepEqual, equal, match, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { createMessagesProtocol } from '../messages-format.ts'

const protocol = createMessagesProtocol({ signatureKey: new Uint8Array(32) })
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQID' } }

function decode(...messages: readonly unknown[]) {
  return protocol.decode({ model: 'hal-1.0', max_tokens: 100, messages }).request.messages
}

/** What one block of a user turn becomes. */
function decodeBlock(block: unknown, role = 'user') {
  return decode({ role, content: [block, { type: 'text', text: 'end' }] })[0]!.content.slice(0, -1)
}

function textOf(block: unknown, role = 'user'): string {
  const [decoded] = decodeBlock(block, role)
  return decoded?.kind === 'text' ? decoded.text : ''
}

/** What one block of a tool result becomes. */
function decodeResult(content: unknown, isError?: boolean | null) {
  const call = { type: 'tool_use', id: 'call_1', name: 'look', input: {} }
  const result = { type: 'tool_result', tool_use_id: 'call_1', content, is_error: isError }
  const block = decode({ role: 'assistant', content: [call] }, { role: 'user', content: [result] })[1]!.content[0]
  ok(block?.kind === 'tool-result')
  return block
}

test('an image of a user turn keeps its bytes and its place', () => {
  deepEqual(decodeBlock(png), [
    {
      kind: 'image',
      mediaType: 'image/png',
      data: new Uint8Array([1, 2, 3]),
      path: ['messages', 0, 'content', 0, 'image'],
    },
  ])
})

test('an image of a tool result keeps its bytes and its place', () => {
  const [image] = decodeResult([png]).content
  ok(image?.kind === 'image')
  equal(image.path.join('.'), 'messages.1.content.0.content.0.image')
})

test('an image that is no base64 is refused from a user and noted in a tool result', () => {
  for (const data of ['', 'not base64!', 'AQ=D', '====']) {
    const broken = { ...png, source: { ...png.source, data } }
    throws(() => decodeBlock(broken), { message: /^messages\.0\.content\.0\.image: Could not process image/ })
    deepEqual(decodeResult([broken]).content, [{ kind: 'text', text: '[image omitted: it could not be read]' }])
  }
})

const absentSources = [
  { type: 'url', url: 'https://example.com/a.png' },
  { type: 'file', file_id: 'file_1' },
]

test('an image by its address or as a file keeps its place, and nothing is fetched', () => {
  for (const source of absentSources) {
    const image = { kind: 'image', mediaType: null, data: null }
    deepEqual(decodeBlock({ type: 'image', source }), [{ ...image, path: ['messages', 0, 'content', 0, 'image'] }])
    deepEqual(decodeResult([{ type: 'image', source }]).content, [
      { ...image, path: ['messages', 1, 'content', 0, 'content', 0, 'image'] },
    ])
  }
})

test('a document by its address or as a file is refused from a user', () => {
  for (const source of absentSources) {
    throws(() => decodeBlock({ type: 'document', source }), { message: /^messages\.0\.content\.0\.document\.source: / })
  }
})

test('a document of a tool result that cannot be read becomes a note, so that the conversation goes on', () => {
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' }
  for (const source of [...absentSources, pdf]) {
    deepEqual(decodeResult([{ type: 'document', source }]).content, [
      { kind: 'text', text: '[document omitted: model accepts text only]' },
    ])
  }
  const broken = { ...png, source: { ...png.source, data: '####' } }
  const content = [broken, { type: 'text', text: 'a' }]
  deepEqual(decodeResult([{ type: 'document', source: { type: 'content', content } }]).content, [
    { kind: 'text', text: '<document>\n[image omitted: it could not be read]\na\n</document>' },
  ])
})

test('images belong to user turns', () => {
  for (const role of ['assistant', 'system']) {
    throws(() => decodeBlock(png, role), { message: /^messages\.0\.content\.0\.image: Images cannot be in/ })
  }
})

test('documents become text with their title and context', () => {
  const document = { type: 'document', title: 'Notes', context: 'From Ann', citations: { enabled: true } }
  const expected = '<document>\n<title>Notes</title>\n<context>From Ann</context>\nLine.\n</document>'
  for (const source of [
    { type: 'text', media_type: 'text/plain', data: 'Line.' },
    { type: 'content', content: 'Line.' },
    { type: 'content', content: [{ type: 'text', text: 'Line.' }] },
  ]) {
    equal(textOf({ ...document, source }), expected)
    equal(textOf({ ...document, source }, 'assistant'), expected)
  }
  equal(textOf({ type: 'document', title: null, source: { type: 'text', data: 'x' } }), '<document>\nx\n</document>')
})

test('images in a document follow its text', () => {
  const kinds = decodeBlock({
    type: 'document',
    source: { type: 'content', content: [png, { type: 'text', text: 'a' }] },
  })
  deepEqual(
    kinds.map(({ kind }) => kind),
    ['text', 'image'],
  )
})

test('a document in PDF is refused in words its clients know', () => {
  const source = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' }
  throws(() => decodeBlock({ type: 'document', source }), { message: /does not support PDF input/ })
})

test('search results become text with title and source', () => {
  const block = {
    type: 'search_result',
    source: 'https://example.com',
    title: 'Page',
    content: [{ type: 'text', text: 'Found.' }],
  }
  equal(
    textOf(block),
    '<search_result>\n<title>Page</title>\n<source>https://example.com</source>\nFound.\n</search_result>',
  )
})

test('arguments of a call keep the order of their keys', () => {
  const call = {
    type: 'tool_use',
    id: 'call_x',
    name: 'look',
    input: { b: 1, a: { d: [], c: null } },
    caller: { type: 'direct' },
  }
  deepEqual(decode({ role: 'user', content: 'a' }, { role: 'assistant', content: [call] })[1]!.content, [
    { kind: 'tool-call', id: 'call_x', name: 'look', arguments: '{"b":1,"a":{"d":[],"c":null}}' },
  ])
})

test('arguments of a call keep a key that is named __proto__', () => {
  const input: unknown = JSON.parse('{"a":1,"__proto__":{"b":2}}')
  const call = { type: 'tool_use', id: 'call_x', name: 'look', input }
  const [decoded] = decode({ role: 'user', content: 'a' }, { role: 'assistant', content: [call] })[1]!.content
  equal(decoded?.kind === 'tool-call' && decoded.arguments, '{"a":1,"__proto__":{"b":2}}')
})

test('a tool result may lack content and may be an error', () => {
  deepEqual(decodeResult(undefined), { kind: 'tool-result', toolCallId: 'call_1', isError: false, content: [] })
  deepEqual(decodeResult(null, null).content, [])
  equal(decodeResult('no such file', true).isError, true)
  deepEqual(decodeResult('text').content, [{ kind: 'text', text: 'text' }])
})

test('a tool result may hold every kind of block the format allows in it', () => {
  const { content } = decodeResult([
    { type: 'text', text: 'a' },
    { type: 'text', text: '' },
    { type: 'tool_reference', tool_name: 'NotebookEdit' },
    { type: 'search_result', source: 's', title: 't', content: [] },
    { type: 'document', source: { type: 'text', data: 'd' } },
    { type: 'browser_state', tabs: [{ title: 'Start', url: 'https://example.com' }] },
  ])
  equal(content.length, 5)
  ok(content[1]?.kind === 'text' && content[1].text.includes('NotebookEdit'))
  ok(content[4]?.kind === 'text' && content[4].text.includes('Start'))
})

test('blocks in a turn of the wrong role are refused, thinking is dropped', () => {
  const call = { type: 'tool_use', id: '1', name: 'look', input: {} }
  const result = { type: 'tool_result', tool_use_id: '1' }
  throws(() => decodeBlock(call), {
    message: /^messages\.0\.content\.0: tool_use blocks can only be in assistant messages/,
  })
  throws(() => decodeBlock(result, 'assistant'), {
    message: /^messages\.0\.content\.0: tool_result blocks can only be in user/,
  })
  throws(() => decodeBlock(call, 'system'), {
    message: /^messages\.0\.content\.0: A system message cannot hold a tool_use/,
  })
  deepEqual(decodeBlock({ type: 'thinking', thinking: 'x', signature: 'y' }), [])
  deepEqual(decodeBlock({ type: 'redacted_thinking', data: 'x' }, 'system'), [])
})

test('history of another service becomes a short text and never an error', () => {
  const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather in Rome' } }
  match(textOf(search, 'assistant'), /web_search\nweather in Rome/)
  const found = { type: 'web_search_result', title: 'Rome', url: 'https://example.com', encrypted_content: 'SECRET' }
  const results = textOf({ type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [found] }, 'assistant')
  match(results, /Rome\nhttps:\/\/example\.com/)
  ok(!results.includes('SECRET'))
  const output = { type: 'code_execution_result', stdout: '42', stderr: '', return_code: 0 }
  match(textOf({ type: 'code_execution_tool_result', content: output }, 'assistant'), /42/)
  const page = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'UERG' } }
  ok(!textOf({ type: 'web_fetch_tool_result', content: { type: 'web_fetch_result', content: page } }).includes('UERG'))
  ok(textOf({ type: 'mcp_tool_result', content: [{ type: 'text', text: 'x'.repeat(9_000) }] }).length < 3_000)
  for (const type of ['mcp_tool_listing', 'fallback']) deepEqual(decodeBlock({ type }, 'assistant'), [])
  for (const odd of [null, 5, 'x', [[[[[[[[['deep']]]]]]]]], { content: { content: { content: 'x' } } }]) {
    for (const type of ['tool_search_tool_result', 'mcp_tool_use', 'advisor_message'])
      decodeBlock({ type, content: odd, input: odd })
  }
})

test('a compaction becomes its text, an empty one nothing', () => {
  equal(textOf({ type: 'compaction', content: 'So far: nothing.' }), 'So far: nothing.')
  deepEqual(decodeBlock({ type: 'compaction', content: null }), [])
})

test('changes of the tools are told to the model where they happen', () => {
  match(
    textOf({ type: 'tool_addition', tool: { type: 'tool_reference', name: 'look' } }, 'system'),
    /look is available/,
  )
  match(textOf({ type: 'tool_removal', tool: { type: 'tool_reference', name: 'look' } }, 'system'), /look is no longer/)
  const definition = { type: 'tool_definition', definition: { name: 'look', input_schema: {} } }
  throws(() => decodeBlock({ type: 'tool_addition', tool: definition }, 'system'), {
    message: 'capability_rejected: mid_conv_system',
  })
})

test('files in a container are refused', () => {
  throws(() => decodeBlock({ type: 'container_upload', file_id: 'file_1' }), {
    message: /^messages\.0\.content\.0: container_upload/,
  })
})

test('an unknown block is refused by its place', () => {
  throws(() => decodeBlock({ type: 'hologram' }), {
    message:
      /^messages\.0\.content\.0: Input tag 'hologram' found using 'type' does not match any of the expected tags: 'text'/,
  })
  throws(() => decodeResult([{ type: 'thinking' }]), {
    message: /^messages\.1\.content\.0\.content\.0: Input tag 'thinking'/,
  })
  throws(() => decodeBlock({}), { message: 'messages.0.content.0.type: Field required' })
})
