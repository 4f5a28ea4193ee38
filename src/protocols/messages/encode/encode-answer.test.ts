import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import type { GeneratedBlock, Generation } from '../../../core/collect.ts'
import { createMessagesProtocol } from '../messages-format.ts'
import { createThinkingSignature } from '../thinking-signature.ts'

const signatureKey = new Uint8Array(32).fill(3)
const protocol = createMessagesProtocol({ signatureKey })
const meta = { requestId: 'req_0123456789abcdefghijklmn', model: 'hal-1.0', createdAtMs: 0 } as const
const usage = {
  inputUncached: 172,
  inputCacheRead: 640,
  inputCacheWrite: 0,
  inputCacheWriteLong: 0,
  output: 57,
  outputThinking: 31,
}

function encode(blocks: readonly GeneratedBlock[], kind: 'end' | 'tool-calls' | 'length' = 'end') {
  const body = { model: 'hal-1.0', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] }
  const answer: Generation = { blocks, reason: { kind }, usage }
  return protocol.decode(body).encoder.encodeAnswer([answer], meta) as Record<string, unknown> & {
    content: Record<string, unknown>[]
  }
}

function call(text: string): GeneratedBlock {
  return { kind: 'tool-call', id: 'call_0', name: 'look', text, logprobs: null }
}

test('a number in a call stays as the model has written it, as it does in a stream', () => {
  const input = '{"user_id":123456789012345677,"share":1.0}'
  equal(JSON.stringify(encode([call(input)]).content[0]?.['input']), input)
})

test('a whole answer has every key of the format', () => {
  const blocks: GeneratedBlock[] = [
    { kind: 'thinking', text: 'The user asks', logprobs: null },
    { kind: 'text', text: 'I will check.', logprobs: null },
    call('{"city":"Rome"}'),
  ]
  deepEqual(encode(blocks, 'tool-calls'), {
    id: 'msg_0123456789abcdefghijklmn',
    type: 'message',
    role: 'assistant',
    model: 'hal-1.0',
    content: [
      {
        type: 'thinking',
        thinking: 'The user asks',
        signature: createThinkingSignature(signatureKey).sign('The user asks'),
      },
      { type: 'text', text: 'I will check.', citations: null },
      {
        type: 'tool_use',
        id: 'toolu_0123456789abcdefghijklmn_2',
        name: 'look',
        input: { city: 'Rome' },
        caller: { type: 'direct' },
      },
    ],
    stop_reason: 'tool_use',
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage: {
      input_tokens: 172,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 640,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: 57,
      output_tokens_details: { thinking_tokens: 31 },
      server_tool_use: null,
      service_tier: 'standard',
      inference_geo: null,
      speed: 'standard',
    },
  })
})

test('the input of a call is an object, whatever the model wrote', () => {
  for (const text of ['', '{"a":', '[1]', 'null', '"x"', '5', '{}']) {
    equal(JSON.stringify(encode([call(text)], 'length').content[0]?.['input']), '{}', text)
  }
  equal(JSON.stringify(encode([call('{"b":1,"a":{"c":[]}}')]).content[0]?.['input']), '{"b":1,"a":{"c":[]}}')
})

test('calls of one answer have ids of their own', () => {
  const ids = encode([call('{}'), call('{}')], 'tool-calls').content.map(({ id }) => id)
  equal(new Set(ids).size, 2)
})

test('an answer of nothing but white space has no content', () => {
  deepEqual(encode([{ kind: 'text', text: ' \n', logprobs: null }]).content, [])
})
