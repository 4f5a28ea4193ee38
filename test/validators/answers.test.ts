import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkChatAnswer } from './chat-answer.ts'
import { checkMessagesAnswer } from './messages-answer.ts'

type Fields = Readonly<Record<string, unknown>>

describe('chat completions', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const message = { role: 'assistant', content: 'Hi', refusal: null, annotations: [] }
  const usage = {
    prompt_tokens: 1,
    completion_tokens: 1,
    total_tokens: 2,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  }
  const answer = (choice: Fields, changes: Fields = {}) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop', ...choice }],
    usage,
    service_tier: 'default',
    system_fingerprint: 'fp',
    ...changes,
  })
  const called = { ...message, content: null, tool_calls: [call] }

  test('good answers pass', () => {
    checkChatAnswer(answer({}))
    checkChatAnswer(answer({ message: called, finish_reason: 'tool_calls' }))
    checkChatAnswer(answer({ message: { ...message, reasoning: 'a', reasoning_content: 'a' } }))
    const logprobs = { content: [{ bytes: [72, 105] }], refusal: null }
    checkChatAnswer(answer({ logprobs }))
    const cut = { ...call, function: { name: 'f', arguments: '{"a' } }
    checkChatAnswer(answer({ message: { ...called, tool_calls: [cut] }, finish_reason: 'length' }))
  })

  const bad: Readonly<Record<string, Fields>> = {
    'no choice': answer({}, { choices: [] }),
    'another key': answer({}, { stop_reason: null }),
    'null content': answer({ message: { ...message, content: null } }),
    'a list of content': answer({ message: { ...message, content: [] } }),
    'an empty list of calls': answer({ message: { ...message, tool_calls: [] } }),
    'stop with calls': answer({ message: called }),
    'tool_calls without calls': answer({ finish_reason: 'tool_calls' }),
    'no finish': answer({ finish_reason: null }),
    'reasoning under one name': answer({ message: { ...message, reasoning: 'a' } }),
    'arguments that do not parse': answer({
      message: { ...called, tool_calls: [{ ...call, function: { name: 'f', arguments: '' } }] },
      finish_reason: 'tool_calls',
    }),
    'two calls of one id': answer({ message: { ...called, tool_calls: [call, call] }, finish_reason: 'tool_calls' }),
    'a total that is no sum': answer({}, { usage: { ...usage, total_tokens: 3 } }),
    'bytes of another text': answer({ logprobs: { content: [{ bytes: [72] }], refusal: null } }),
  }
  for (const [name, body] of Object.entries(bad))
    test(`refused: ${name}`, () => assert.throws(() => checkChatAnswer(body)))
})

describe('messages', () => {
  const text = { type: 'text', text: 'Hi', citations: null }
  const call = { type: 'tool_use', id: `toolu_${'x'.repeat(20)}`, name: 'f', input: {}, caller: { type: 'direct' } }
  const usage = {
    input_tokens: 1,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { thinking_tokens: 0 },
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: 'standard',
  }
  const answer = (changes: Fields = {}) => ({
    id: `msg_${'x'.repeat(20)}`,
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [text],
    stop_reason: 'end_turn',
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage,
    ...changes,
  })

  test('good answers pass', () => {
    checkMessagesAnswer(answer())
    checkMessagesAnswer(answer({ content: [{ type: 'thinking', thinking: '', signature: 's' }, text] }))
    checkMessagesAnswer(answer({ content: [text, call], stop_reason: 'tool_use' }))
    checkMessagesAnswer(answer({ stop_reason: 'stop_sequence', stop_sequence: 'x' }))
  })

  const bad: Readonly<Record<string, Fields>> = {
    'no stop reason': answer({ stop_reason: null }),
    'empty text': answer({ content: [{ ...text, text: ' ' }] }),
    'unsigned thinking': answer({ content: [{ type: 'thinking', thinking: 'a', signature: '' }] }),
    'a call that ends the turn': answer({ content: [call] }),
    'tool_use without a call': answer({ stop_reason: 'tool_use' }),
    'input as text': answer({ content: [{ ...call, input: '{}' }], stop_reason: 'tool_use' }),
    'a short id': answer({ id: 'msg_1' }),
    'no usage': answer({ usage: null }),
    'an empty prompt': answer({ usage: { ...usage, input_tokens: 0 } }),
    'a missing key': Object.fromEntries(Object.entries(answer()).filter(([key]) => key !== 'container')),
  }
  for (const [name, body] of Object.entries(bad))
    test(`refused: ${name}`, () => assert.throws(() => checkMessagesAnswer(body)))
})
