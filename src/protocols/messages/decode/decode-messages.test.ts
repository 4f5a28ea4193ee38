import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Message } from '../../../core/generation.ts'
import { createMessagesProtocol } from '../messages-format.ts'
import { createThinkingSignature } from '../thinking-signature.ts'

const signatureKey = new Uint8Array(32).fill(1)
const protocol = createMessagesProtocol({ signatureKey })
const signature = createThinkingSignature(signatureKey)

function decode(messages: readonly unknown[], fields: Record<string, unknown> = {}) {
  return protocol.decode({ model: 'hal-1.0', max_tokens: 100, messages, ...fields }).request
}

function user(content: unknown) {
  return { role: 'user', content }
}

function assistant(content: unknown) {
  return { role: 'assistant', content }
}

function call(id: string) {
  return { type: 'tool_use', id, name: 'look', input: {} }
}

function result(id: string, content: unknown = 'ok') {
  return { type: 'tool_result', tool_use_id: id, content }
}

function thought(text: string) {
  return { type: 'thinking', thinking: text, signature: signature.sign(text) }
}

/** The roles and texts of a conversation, one line a message. */
function outline(messages: readonly Message[]): string[] {
  return messages.map(({ role, content }) => {
    const parts = content.map((block) => {
      if (block.kind === 'text') return block.text
      if (block.kind === 'thinking') return `(${block.text})`
      return block.kind === 'tool-call'
        ? `call ${block.id}`
        : block.kind === 'image'
          ? 'image'
          : `result ${block.toolCallId}`
    })
    return `${role}: ${parts.join(' | ')}`
  })
}

test('a string and one text block are the same', () => {
  deepEqual(decode([user('Hi')]).messages, decode([user([{ type: 'text', text: 'Hi' }])]).messages)
})

test('system turns stay in place', () => {
  const messages = [
    user('a'),
    { role: 'system', content: 'note' },
    assistant('b'),
    user('c'),
    { role: 'system', content: 'end' },
  ]
  deepEqual(outline(decode(messages, { system: 'top' }).messages), [
    'system: top',
    'user: a',
    'system: note',
    'assistant: b',
    'user: c',
    'system: end',
  ])
})

test('a request may begin with an assistant or a system turn', () => {
  deepEqual(outline(decode([assistant('a'), user('b')]).messages), ['assistant: a', 'user: b'])
  deepEqual(outline(decode([{ role: 'system', content: 'a' }]).messages), ['system: a'])
})

test('roles that agents use are understood and others refused', () => {
  const messages = ['developer', 'ctx', 'msg', 'tool'].map((role) => ({ role, content: role }))
  deepEqual(outline(decode(messages).messages), ['system: developer', 'user: ctx | msg | tool'])
  for (const role of ['narrator', 'constructor', '__proto__', '']) {
    throws(() => decode([{ role, content: 'x' }]), { message: /^messages\.0\.role: / })
  }
})

test('neighbours of one role are merged', () => {
  deepEqual(outline(decode([user('a'), user('b'), assistant('c'), assistant('d'), user('e')]).messages), [
    'user: a | b',
    'assistant: c | d',
    'user: e',
  ])
})

test('empty texts, blocks and turns leave no trace', () => {
  const messages = [
    user('a'),
    assistant(''),
    user([]),
    assistant([{ type: 'text', text: '' }]),
    user([{ type: 'text', text: 'b' }]),
  ]
  deepEqual(outline(decode(messages, { system: '' }).messages), ['user: a | b'])
  deepEqual(outline(decode([user('a')], { system: [] }).messages), ['user: a'])
})

test('a conversation of nothing but empty turns is refused', () => {
  for (const messages of [[user('')], [assistant(' ')], [{ role: 'system', content: [] }]]) {
    throws(() => decode(messages, { system: 'top' }), {
      message: 'messages: at least one message with content is required',
    })
  }
})

test('the attribution block is removed where it stands alone at the front', () => {
  const attribution = { type: 'text', text: 'x-anthropic-billing-header: cc_version=1; cc_entrypoint=cli;' }
  const rule = { type: 'text', text: 'Be terse.' }
  deepEqual(outline(decode([user('a')], { system: [attribution, rule] }).messages), ['system: Be terse.', 'user: a'])
  deepEqual(outline(decode([user('a')], { system: [attribution] }).messages), ['user: a'])
  equal(decode([user('a')], { system: [rule, attribution] }).messages[0]?.content.length, 2)
  equal(decode([user('a')], { system: `${attribution.text}\nBe terse.` }).messages.length, 2)
})

test('a system turn for one user turn disappears with the next', () => {
  const once = { role: 'system', content: 'once', clear_at: 'next_user_message' }
  deepEqual(outline(decode([user('a'), once]).messages), ['user: a', 'system: once'])
  deepEqual(outline(decode([user('a'), once, assistant('b'), user('c')]).messages), [
    'user: a',
    'assistant: b',
    'user: c',
  ])
  equal(decode([user('a'), { ...once, clear_at: 'never' }, user('c')]).messages.length, 3)
})

test('a system turn may come without content', () => {
  deepEqual(outline(decode([user('a'), { role: 'system', output_config: { effort: 'low' } }]).messages), ['user: a'])
})

test('results in any order follow their calls, before other content of the turn', () => {
  const messages = [
    user('a'),
    assistant([call('1'), call('2')]),
    user([{ type: 'text', text: 'and' }, result('2'), result('1')]),
  ]
  deepEqual(outline(decode(messages).messages), [
    'user: a',
    'assistant: call 1 | call 2',
    'user: result 2 | result 1 | and',
  ])
})

test('results may be spread over turns, with system turns between', () => {
  const messages = [
    user('a'),
    assistant([call('1'), call('2')]),
    { role: 'system', content: 'note' },
    user([result('1')]),
    user([result('2')]),
  ]
  deepEqual(outline(decode(messages).messages), [
    'user: a',
    'assistant: call 1 | call 2',
    'system: note',
    'user: result 1 | result 2',
  ])
})

test('a result without its call in the assistant turn before it is refused', () => {
  const orphans = [
    [user([result('1')])],
    [user('a'), assistant('b'), user(['x', '1'].map((id) => result(id)))],
    [
      user('a'),
      assistant([call('1')]),
      user([result('1')]),
      assistant('b'),
      user([{ type: 'text', text: 'c' }, result('1')]),
    ],
  ]
  const paths = ['messages.0.content.0', 'messages.2.content.0', 'messages.4.content.1']
  for (const [index, messages] of orphans.entries()) {
    throws(
      () => decode(messages),
      (error: Error) => error.message.startsWith(`${paths[index]}: unexpected \`tool_use_id\``),
    )
  }
})

test('a call without a result is accepted', () => {
  deepEqual(outline(decode([user('a'), assistant([call('1')]), user('never mind')]).messages), [
    'user: a',
    'assistant: call 1',
    'user: never mind',
  ])
})

test('only thinking of the running tool loop is kept', () => {
  const messages = [
    user('a'),
    assistant([thought('old'), { type: 'text', text: 'b' }]),
    user('c'),
    assistant([thought('first'), call('1')]),
    user([result('1'), { type: 'text', text: 'reminder' }]),
    { role: 'system', content: 'note' },
    assistant([thought('second'), call('2')]),
    user([result('2')]),
  ]
  deepEqual(outline(decode(messages).messages), [
    'user: a',
    'assistant: b',
    'user: c',
    'assistant: (first) | call 1',
    'user: result 1 | reminder',
    'system: note',
    'assistant: (second) | call 2',
    'user: result 2',
  ])
})

test('an assistant turn of earlier thinking alone disappears', () => {
  deepEqual(outline(decode([user('a'), assistant([thought('x')]), user('b')]).messages), ['user: a | b'])
})

test('thinking that this service did not write is dropped without an error', () => {
  const foreign = [
    { type: 'thinking', thinking: 'x', signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3h' },
    { type: 'thinking', thinking: 'x', signature: '' },
    { type: 'thinking', thinking: 'x' },
    { type: 'thinking' },
    { type: 'thinking', thinking: 'changed', signature: signature.sign('x') },
    { type: 'redacted_thinking', data: 'abc' },
    { type: 'redacted_thinking' },
  ]
  const messages = [user('a'), assistant([...foreign, call('1')]), user([result('1')])]
  deepEqual(outline(decode(messages).messages), ['user: a', 'assistant: call 1', 'user: result 1'])
})

test('omitted thinking comes back from its signature', () => {
  const sealed = { type: 'thinking', thinking: '', signature: signature.seal('hidden plan') }
  const messages = [user('a'), assistant([sealed, call('1')]), user([result('1')])]
  equal(outline(decode(messages).messages)[1], 'assistant: (hidden plan) | call 1')
})

test('a final assistant turn is continued from its last visible character', () => {
  const request = decode([
    user('a'),
    assistant([
      { type: 'text', text: 'The answer is \n' },
      { type: 'text', text: ' ' },
    ]),
  ])
  deepEqual(outline(request.messages), ['user: a', 'assistant: The answer is'])
  equal(request.continuesFinalMessage, true)
  deepEqual(request.thinking, { kind: 'off' })
})

test('a final assistant turn of white space alone is as good as none', () => {
  const request = decode([user('a'), assistant(' \n')])
  deepEqual(outline(request.messages), ['user: a'])
  equal(request.continuesFinalMessage, false)
  deepEqual(request.thinking, { kind: 'default' })
})

test('a final assistant turn that ends in a call is left as it is', () => {
  const request = decode([user('a'), assistant([call('1')])])
  equal(request.continuesFinalMessage, false)
})

test('a final assistant turn with text beside a call keeps the call and is not continued', () => {
  const text = { type: 'text', text: 'Looking. ' }
  for (const turns of [[assistant([call('1'), text])], [assistant([call('1')]), assistant([text])]]) {
    const request = decode([user('a'), ...turns])
    deepEqual(outline(request.messages), ['user: a', 'assistant: call 1 | Looking.'])
    equal(request.continuesFinalMessage, false)
    deepEqual(request.thinking, { kind: 'default' })
  }
})

test('a final assistant turn and thinking exclude each other', () => {
  for (const thinking of [{ type: 'adaptive' }, { type: 'enabled', budget_tokens: 1024 }]) {
    throws(() => decode([user('a'), assistant('b')], { thinking }), {
      message: /^messages\.1: .*must end with a user message$/,
    })
  }
  equal(decode([user('a'), assistant('b')], { thinking: { type: 'disabled' } }).continuesFinalMessage, true)
  equal(decode([user('a'), assistant('b')], { thinking: { type: 'between_tools' } }).continuesFinalMessage, true)
})

test('a final assistant turn is not continued in JSON, which would begin anew behind it', () => {
  const output = { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }
  throws(() => decode([user('a'), assistant('{"city":')], output), {
    message: /^messages\.1: .*with output_config\.format; the conversation must end with a user message$/,
  })
})

test('a hundred thousand turns are decoded in time that grows with their number', () => {
  const many = (turn: unknown) => Array.from({ length: 100_000 }, () => turn)
  const began = performance.now()
  equal(decode(many(user('a'))).messages.length, 1)
  equal(decode([user('a'), ...many(assistant([call('1')])).slice(1)]).messages.length, 2)
  throws(() => decode(many({ role: 'system', content: 'x', clear_at: 'next_user_message' }).with(-1, user(''))))
  equal(performance.now() - began < 10_000, true)
})

const anyTurn = fc.record({
  role: fc.constantFrom('user', 'assistant', 'system', 'developer', 'tool'),
  content: fc.oneof(
    fc.constantFrom('', ' ', 'text'),
    fc.array(fc.constantFrom({ type: 'text', text: '' }, { type: 'text', text: 'x ' }, thought('t')), { maxLength: 3 }),
  ),
})

test('a decoded conversation has no empty message and no neighbours of one role', () => {
  fc.assert(
    fc.property(fc.array(anyTurn, { maxLength: 8 }), (turns) => {
      const { messages, continuesFinalMessage } = decode([...turns, user('end'), ...turns.slice(0, 1)], {
        thinking: null,
      })
      for (const [index, { role, content }] of messages.entries()) {
        equal(content.length > 0, true)
        equal(role === messages[index - 1]?.role, false)
      }
      if (continuesFinalMessage) equal(messages.at(-1)?.role, 'assistant')
    }),
  )
})

test('a call in the history has a name that a tool can have, though it may be longer', () => {
  const named = (name: string) => decode([user('Hi'), assistant([{ ...call('c1'), name }]), user([result('c1')])])
  for (const name of ['a b', '<|im_end|>', 'look\n', 'git diff | head']) {
    throws(() => named(name), { message: /^messages\.1\.content\.0\.name: String should match pattern/ }, name)
  }
  throws(() => named(''), { message: 'messages.1.content.0.name: Input should not be empty' })
  throws(() => named('x'.repeat(201)), {
    message: 'messages.1.content.0.name: String should have at most 200 characters',
  })
  for (const name of ['look_up', 'mcp.server.look-up', 'x'.repeat(200)]) named(name)
})
