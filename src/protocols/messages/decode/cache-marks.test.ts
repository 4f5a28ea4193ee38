import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { createMessagesProtocol } from '../messages-format.ts'

const protocol = createMessagesProtocol({ signatureKey: new Uint8Array(32) })
const short = { type: 'ephemeral' }
const long = { type: 'ephemeral', ttl: '1h' }

function decode(fields: Record<string, unknown>) {
  return protocol.decode({ model: 'hal-1.0', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }], ...fields })
    .request
}

function text(value: string, mark?: unknown) {
  return { type: 'text', text: value, cache_control: mark }
}

function turn(...content: readonly unknown[]) {
  return { role: 'user', content }
}

test('every kind of block that can carry a mark does', () => {
  const image = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
    cache_control: long,
  }
  const messages = [
    turn(image),
    { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'look', input: {}, cache_control: short }] },
    turn({ type: 'tool_result', tool_use_id: '1', content: 'ok', cache_control: { type: 'ephemeral', ttl: null } }),
    { role: 'system', content: [text('note', short)] },
  ]
  const marks = decode({ messages }).messages.map(
    ({ content }) => 'cacheBreakpoint' in content[0]! && content[0].cacheBreakpoint,
  )
  deepEqual(
    marks,
    ['1h', '5m', '5m', '5m'].map((lifetime) => ({ lifetime })),
  )
})

test('system blocks, tools and documents carry marks too', () => {
  const request = decode({
    system: [text('a', short)],
    tools: [{ name: 'look', input_schema: {}, cache_control: long }],
    messages: [turn({ type: 'document', source: { type: 'text', data: 'x' }, cache_control: short })],
  })
  deepEqual(
    request.messages.map(({ content }) => 'cacheBreakpoint' in content[0]!),
    [true, true],
  )
  deepEqual(request.tools[0]?.cacheBreakpoint, { lifetime: '1h' })
})

test('other types and lifetimes are refused, other keys ignored', () => {
  throws(() => decode({ cache_control: { type: 'persistent' } }), { message: /^cache_control\.type: / })
  throws(() => decode({ cache_control: { type: 'ephemeral', ttl: '1d' } }), { message: /^cache_control\.ttl: / })
  throws(() => decode({ messages: [turn(text('a', { ttl: '5m' }))] }), {
    message: 'messages.0.content.0.cache_control.type: Field required',
  })
  decode({ messages: [turn(text('a', { ...short, scope: 'global' }))] })
})

test('a request has at most four marks', () => {
  const four = [text('a', short), text('b', short), text('c', short), text('d', short)]
  equal(decode({ messages: [turn(...four)] }).messages[0]?.content.length, 4)
  throws(() => decode({ system: [text('s', short)], messages: [turn(...four)] }), {
    message: 'cache_control: A maximum of 4 blocks with cache_control may be provided. Found 5.',
  })
  throws(() => decode({ cache_control: short, messages: [turn(...four, text('e'))] }), { message: /Found 5\.$/ })
  throws(() => decode({ messages: [turn(...four, text('e', long), text('f', long))] }), { message: /Found 6\.$/ })
})

test('what another service wrote into a history is not looked through for marks', () => {
  for (const inner of [null, { cache_control: null }, { cache_control: 5 }, text('a', long)]) {
    const foreign = { type: 'web_search_tool_result', tool_use_id: '1', content: [inner] }
    equal(decode({ messages: [turn(text('a', short), foreign)] }).messages[0]?.content.length, 2)
  }
})

/** Where marks stand, each as the message and the block that it ends with. */
function marksOf(fields: Record<string, unknown>): string[] {
  const { tools, messages } = decode(fields)
  const declared = tools.map((tool) => [tool.name, tool] as const)
  const said = messages.flatMap(({ role, content }, index) =>
    content.map((block, part) => [`${role} ${index}.${part}`, block] as const),
  )
  return [...declared, ...said].flatMap(([name, part]) =>
    'cacheBreakpoint' in part ? [`${name} ${part.cacheBreakpoint?.lifetime}`] : [],
  )
}

const call = { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'look', input: {} }] }

test('a mark inside a block counts for the whole block', () => {
  const results = (content: readonly unknown[], mark?: unknown) =>
    marksOf({
      messages: [turn(text('a')), call, turn({ type: 'tool_result', tool_use_id: '1', content, cache_control: mark })],
    })
  const document = { type: 'document', source: { type: 'content', content: [text('a', long), text('b')] } }
  const found = { type: 'search_result', source: 's', title: 't', content: [text('a', short)] }
  deepEqual(results([text('ok', short), text('more')]), ['user 2.0 5m'])
  deepEqual(results([text('ok', long), text('more', short)]), ['user 2.0 1h'])
  deepEqual(results([text('ok', long)], short), ['user 2.0 1h'])
  deepEqual(results([text('', short)]), ['user 2.0 5m'])
  deepEqual(results([document]), ['user 2.0 1h'])
  deepEqual(marksOf({ messages: [turn(document, found)] }), ['user 0.0 1h', 'user 0.1 5m'])
})

test('marks inside blocks count among the four and keep their order', () => {
  const content = [text('a', short), text('b', short), text('c', short)]
  const document = { type: 'document', source: { type: 'content', content }, cache_control: short }
  equal(decode({ messages: [turn(document)] }).messages.length, 1)
  throws(() => decode({ messages: [turn(document, text('d', short))] }), { message: /Found 5\.$/ })
  throws(() => decode({ messages: [turn({ ...document, cache_control: long })] }), {
    message: /^messages\.0\.content\.0\.cache_control\.ttl: /,
  })
})

test('a top-level mark may follow a longer one inside the last block', () => {
  const document = { type: 'document', source: { type: 'content', content: [text('a', long)] } }
  deepEqual(marksOf({ cache_control: short, messages: [turn(document)] }), ['user 0.0 1h'])
  throws(() => decode({ cache_control: short, messages: [turn({ ...document, cache_control: long })] }), {
    message: /^cache_control\.ttl: /,
  })
})

test('a mark on a block that says nothing goes to the one before it', () => {
  deepEqual(marksOf({ messages: [turn(text('a'), text('', short))] }), ['user 0.0 5m'])
  deepEqual(marksOf({ messages: [turn(text('a', long), text('', short))] }), ['user 0.0 1h'])
  const between = { role: 'assistant', content: [text('', short)] }
  deepEqual(marksOf({ system: [text('s')], messages: [turn(text('a')), between, turn(text('b'))] }), ['user 1.0 5m'])
  deepEqual(marksOf({ system: [text('s'), text('', short)], messages: [turn(text('a'))] }), ['system 0.0 5m'])
  const silent = { type: 'fallback', cache_control: short }
  deepEqual(
    marksOf({ messages: [turn(text('a')), { role: 'assistant', content: [text('b'), silent] }, turn(text('c'))] }),
    ['assistant 1.0 5m'],
  )
  const once = { role: 'system', content: [text('note', short)], clear_at: 'next_user_message' }
  deepEqual(marksOf({ messages: [turn(text('a')), once, { role: 'assistant', content: 'b' }, turn(text('c'))] }), [
    'user 0.0 5m',
  ])
})

test('a mark before the first block goes to the last tool', () => {
  const tools = [{ name: 'look', input_schema: {} }]
  const system = [text('x-anthropic-billing-header: cc_version=1;', short), text('s')]
  deepEqual(marksOf({ tools, system }), ['look 5m'])
  deepEqual(marksOf({ tools, messages: [turn(text('', short), text('a'))] }), ['look 5m'])
  deepEqual(marksOf({ system }), [])
})

test('a mark on a tool that is left out goes to the one before it', () => {
  const custom = { name: 'look', input_schema: {} }
  for (const type of ['web_search_20250305', 'tool_search_tool_bm25_20251119']) {
    const server = { type, name: 'search', cache_control: short }
    deepEqual(marksOf({ tools: [custom, { ...custom, name: 'read' }, server] }), ['read 5m'])
    deepEqual(marksOf({ tools: [{ ...custom, cache_control: long }, server, { ...custom, name: 'read' }] }), [
      'look 1h',
    ])
    deepEqual(marksOf({ tools: [server, custom] }), [])
  }
})

test('a mark on a turn that is to be continued goes to the block before it', () => {
  const begun = (...content: readonly unknown[]) => [turn(text('a')), { role: 'assistant', content }]
  deepEqual(marksOf({ messages: begun(text('Yes', short)) }), ['user 0.0 5m'])
  deepEqual(marksOf({ messages: begun(text('Yes'), text(' ', short)) }), ['user 0.0 5m'])
  deepEqual(marksOf({ messages: begun(text(' ', short)) }), ['user 0.0 5m'])
  deepEqual(marksOf({ cache_control: long, messages: begun(text('Yes')) }), ['user 0.0 1h'])
  deepEqual(marksOf({ cache_control: short, messages: begun(text('Yes', short)) }), ['user 0.0 5m'])
  throws(() => decode({ cache_control: short, messages: begun(text('Yes', long)) }), {
    message: /^cache_control\.ttl: /,
  })
  const tools = [{ name: 'look', input_schema: {} }]
  deepEqual(marksOf({ tools, cache_control: short, messages: [{ role: 'assistant', content: 'Yes' }] }), ['look 5m'])
})

test('a mark at the end of a turn with a call stays in the turn', () => {
  const content = [...call.content, text('\n', short)]
  deepEqual(marksOf({ messages: [turn(text('a')), { role: 'assistant', content }] }), ['assistant 1.0 5m'])
})

test('a mark of one hour after a mark of five minutes is refused, in the order in which blocks are processed', () => {
  const refused = (path: string) => ({
    message:
      `${path}: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. ` +
      'Note that blocks are processed in the following order: `tools`, `system`, `messages`.',
  })
  const tool = (mark: unknown) => ({ name: 'look', input_schema: {}, cache_control: mark })
  throws(
    () => decode({ messages: [turn(text('a', short), text('b', long))] }),
    refused('messages.0.content.1.cache_control.ttl'),
  )
  throws(() => decode({ tools: [tool(short)], system: [text('s', long)] }), refused('system.0.cache_control.ttl'))
  throws(() => decode({ system: [text('s', short)], cache_control: long }), refused('cache_control.ttl'))
  const result = (inner: unknown, outer: unknown) =>
    turn({ type: 'tool_result', tool_use_id: '1', content: [text('ok', inner)], cache_control: outer })
  const call = { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'look', input: {} }] }
  throws(
    () => decode({ messages: [turn(text('a')), call, result(short, long)] }),
    refused('messages.2.content.0.cache_control.ttl'),
  )
  decode({ messages: [turn(text('a')), call, result(long, short)] })
  decode({ tools: [tool(long)], system: [text('s', short)], cache_control: short })
  decode({ system: [text('s', long)], messages: [turn(text('a', long), text('b', short))] })
})

test('the top-level mark stands on the last block that can carry one', () => {
  const request = decode({ cache_control: long, messages: [turn(text('a'), text('b'))] })
  deepEqual(request.messages[0]?.content, [
    { kind: 'text', text: 'a' },
    { kind: 'text', text: 'b', cacheBreakpoint: { lifetime: '1h' } },
  ])
})

test('the top-level mark repeats one on the last block or contradicts it', () => {
  const four = [text('a', short), text('b', short), text('c', short), text('d', short)]
  equal(decode({ cache_control: short, messages: [turn(...four)] }).messages[0]?.content.length, 4)
  throws(() => decode({ cache_control: long, messages: [turn(...four)] }), { message: /^cache_control\.ttl: / })
})
