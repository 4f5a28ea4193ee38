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
