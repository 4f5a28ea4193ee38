import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { ApiError } from '../../../core/error.ts'
import type { GenerationRequest } from '../../../core/generation.ts'
import { createChatCompletionsProtocol } from '../chat-completions-format.ts'
import { encodeError } from '../error.ts'

type Fields = Record<string, unknown>

const protocol = createChatCompletionsProtocol({ readFingerprint: () => 'fp_test' })

function decode(messages: readonly Fields[], fields: Fields = {}): GenerationRequest {
  return protocol.decode({ model: 'clarke-1.0', messages, ...fields }).request
}

function refusalOf(messages: readonly Fields[], fields: Fields = {}): readonly unknown[] {
  try {
    decode(messages, fields)
  } catch (error) {
    assert.ok(error instanceof ApiError)
    const { param, code } = (encodeError(error, 'req_1').body as { error: Fields }).error
    return [param, code]
  }
  throw new Error('accepted')
}

const text = (value: string) => ({ kind: 'text', text: value })
const user = { role: 'user', content: 'Hi' }
const call = (id: string, name = 'f') => ({ id, type: 'function', function: { name, arguments: '{"a":1}' } })

suite('roles', () => {
  test('developer is system, and neighbours of one role become one message', () => {
    const { messages } = decode([
      { role: 'system', content: 'A' },
      { role: 'developer', content: [{ type: 'text', text: 'B' }] },
      user,
      { role: 'user', content: 'there', name: 'x' },
      { role: 'system', content: 'Late' },
      { role: 'assistant', content: 'One' },
      { role: 'assistant', content: 'Two' },
      user,
    ])
    assert.deepEqual(messages, [
      { role: 'system', content: [text('A\n\nB')] },
      { role: 'user', content: [text('Hi\n\nthere')] },
      { role: 'system', content: [text('Late')] },
      { role: 'assistant', content: [text('One\n\nTwo')] },
      { role: 'user', content: [text('Hi')] },
    ])
  })

  test('a run of tool messages becomes one user message, in the order sent', () => {
    const { messages } = decode([
      user,
      { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] },
      {
        role: 'tool',
        tool_call_id: 'b',
        content: [
          { type: 'text', text: '1' },
          { type: 'text', text: '2' },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '' },
      { role: 'user', content: 'Go on' },
    ])
    assert.deepEqual(messages[2], {
      role: 'user',
      content: [
        { kind: 'tool-result', toolCallId: 'b', isError: false, content: [text('1\n2')] },
        { kind: 'tool-result', toolCallId: 'a', isError: false, content: [] },
        text('Go on'),
      ],
    })
  })

  test('a tool message must answer an earlier call', () => {
    assert.deepEqual(
      refusalOf([
        user,
        { role: 'tool', tool_call_id: 'a', content: 'x' },
        { role: 'assistant', tool_calls: [call('a')] },
      ]),
      ['messages[1].tool_call_id', 'invalid_value'],
    )
  })

  test('a function message answers the latest call of the older form', () => {
    const { messages } = decode([
      user,
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'first' },
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: null },
    ])
    assert.deepEqual(
      messages.flatMap(({ content }) => content.flatMap((block) => ('toolCallId' in block ? [block.toolCallId] : []))),
      ['call_legacy_1', 'call_legacy_3'],
    )
    assert.deepEqual(refusalOf([user, { role: 'function', name: 'f', content: 'x' }]), ['messages[1]', 'invalid_value'])
  })
})

suite('assistant messages', () => {
  test('content is needed unless there is a call', () => {
    assert.deepEqual(refusalOf([{ role: 'assistant', content: null }, user]), [
      'messages[0].content',
      'missing_required_parameter',
    ])
    for (const content of [undefined, null, '', []])
      decode([user, { role: 'assistant', content, tool_calls: [call('a')] }])
    decode([{ role: 'assistant', content: '' }, user])
  })

  test('arguments stay the text that was sent, and no arguments are an empty object', () => {
    const calls = [
      { id: 'a', function: { name: 'f', arguments: '{"b": 1,"a" :2}' } },
      { id: 'b', type: 'function', function: { name: 'f', arguments: 'not json' } },
      { id: 'c', type: 'function', function: { name: 'f', arguments: '' } },
      { id: 'd', type: 'custom', custom: { name: 'g', input: 'free' } },
    ]
    const { messages } = decode([user, { role: 'assistant', tool_calls: calls }])
    assert.deepEqual(
      messages[1]?.content.map((block) => ('arguments' in block ? block.arguments : null)),
      ['{"b": 1,"a" :2}', 'not json', '{}', 'free'],
    )
  })

  test('a call without its body is refused by name', () => {
    for (const type of ['function', 'custom']) {
      assert.deepEqual(refusalOf([user, { role: 'assistant', tool_calls: [{ id: 'a', type }] }]), [
        `messages[1].tool_calls[0].${type}`,
        'missing_required_parameter',
      ])
    }
    assert.deepEqual(
      refusalOf([
        user,
        { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: {} } }] },
      ]),
      ['messages[1].tool_calls[0].function.arguments', 'invalid_type'],
    )
  })

  test('a call in the history has a name that a tool can have', () => {
    const faulty = ['', 'a b', '<|im_end|>', 'look\n', 'x'.repeat(129)]
    for (const name of faulty) {
      const assistant = { role: 'assistant', content: null }
      const custom = { id: 'a', type: 'custom', custom: { name, input: 'x' } }
      const function_call = { name, arguments: '{}' }
      for (const [calls, param] of [
        [{ tool_calls: [call('a'), call('b', name)] }, 'messages[1].tool_calls[1].function.name'],
        [{ tool_calls: [custom] }, 'messages[1].tool_calls[0].custom.name'],
        [{ function_call }, 'messages[1].function_call.name'],
      ] as const) {
        assert.deepEqual(refusalOf([user, { ...assistant, ...calls }]), [param, 'invalid_value'])
      }
    }
    for (const name of ['look_up', 'mcp.server.look-up', 'x'.repeat(128)])
      decode([user, { role: 'assistant', content: null, tool_calls: [call('a', name)] }])
  })

  test('refusals are text, stored audio is refused', () => {
    const { messages } = decode([
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      user,
      { role: 'assistant', content: null, refusal: 'Never.' },
      user,
    ])
    assert.deepEqual(messages[0]?.content, [text('No.')])
    assert.deepEqual(messages[2]?.content, [text('Never.')])
    assert.deepEqual(refusalOf([{ role: 'assistant', content: 'x', audio: { id: 'a' } }, user]), [
      'messages[0].audio',
      'unsupported_parameter',
    ])
  })

  test('reasoning is kept only after the last user message, under either name', () => {
    const { messages } = decode([
      user,
      { role: 'assistant', content: 'Old', reasoning_content: 'old thoughts' },
      user,
      { role: 'assistant', reasoning: 'spare', reasoning_content: 'new thoughts', tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
      { role: 'assistant', reasoning: 'later', tool_calls: [call('b')] },
      { role: 'tool', tool_call_id: 'b', content: 'x' },
    ])
    const thoughts = messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.kind === 'thinking' ? [block.text] : [])),
    )
    assert.deepEqual(thoughts, ['new thoughts', 'later'])
  })
})

suite('the end of the conversation', () => {
  const prefill = { role: 'assistant', content: 'Once' }

  test('a trailing assistant message is history unless the request says otherwise', () => {
    assert.equal(decode([user, prefill]).continuesFinalMessage, false)
    assert.equal(decode([user, prefill], { continue_final_message: true }).continuesFinalMessage, true)
    assert.equal(decode([user, prefill], { add_generation_prompt: false }).continuesFinalMessage, true)
    assert.equal(decode([user], { add_generation_prompt: true }).continuesFinalMessage, false)
  })

  test('contradictions about continuing the last message are refused', () => {
    const both = { continue_final_message: true, add_generation_prompt: true }
    assert.deepEqual(refusalOf([user, prefill], both), ['continue_final_message', 'invalid_value'])
    assert.deepEqual(refusalOf([user], { continue_final_message: true }), ['continue_final_message', 'invalid_value'])
    assert.deepEqual(refusalOf([user], { add_generation_prompt: false }), ['add_generation_prompt', 'invalid_value'])
    assert.deepEqual(
      refusalOf([user, { role: 'assistant', tool_calls: [call('a')] }], { continue_final_message: true }),
      ['continue_final_message', 'invalid_value'],
    )
  })

  test('a message is not continued in JSON, which would begin anew behind it', () => {
    const schema = { name: 'answer', schema: { type: 'object' } }
    for (const format of [{ type: 'json_object' }, { type: 'json_schema', json_schema: schema }]) {
      const fields = { continue_final_message: true, response_format: format }
      assert.deepEqual(refusalOf([user, prefill], fields), ['messages[1]', 'invalid_value'])
    }
  })

  test('an empty assistant message at the end is ignored', () => {
    for (const content of [undefined, null, '', []]) {
      const request = decode([user, { role: 'assistant', content }], { continue_final_message: true })
      assert.equal(request.messages.length, 1)
      assert.equal(request.continuesFinalMessage, false)
    }
    assert.deepEqual(refusalOf([{ role: 'assistant', content: '' }]), ['messages', 'invalid_value'])
  })
})

suite('content parts', () => {
  const png = 'data:image/png;base64,iVBORw0KGgo='
  const image = (url: string) => ({ type: 'image_url', image_url: { url, detail: 'low' } })
  const userOf = (...content: readonly Fields[]) => ({ role: 'user', content })

  test('texts are joined by line breaks, an image stands between them', () => {
    const { messages } = decode([
      userOf({ type: 'text', text: 'a' }, { type: 'text', text: '' }, { type: 'text', text: 'b' }, image(png), {
        type: 'text',
        text: 'c',
      }),
    ])
    assert.deepEqual(messages[0]?.content, [
      text('a\nb'),
      {
        kind: 'image',
        mediaType: 'image/png',
        data: new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
        path: ['messages', 0, 'content', 3, 'image_url'],
      },
      text('c'),
    ])
  })

  test('a tool may answer with an image', () => {
    const { messages } = decode([
      user,
      { role: 'assistant', tool_calls: [call('a')] },
      { role: 'tool', tool_call_id: 'a', content: [image(png)] },
    ])
    const [result] = messages[2]?.content ?? []
    assert.equal(result?.kind === 'tool-result' && result.content[0]?.kind, 'image')
  })

  test('an image by its address keeps its place, and nothing is fetched', () => {
    const { messages } = decode([userOf(image('HTTPS://host/a.png'))])
    assert.deepEqual(messages[0]?.content, [
      { kind: 'image', mediaType: null, data: null, path: ['messages', 0, 'content', 0, 'image_url'] },
    ])
  })

  test('what of a tool result cannot be read becomes a note, so that the conversation goes on', () => {
    const resultOf = (...content: readonly Fields[]) => {
      const calling = { role: 'assistant', tool_calls: [call('a')] }
      const { messages } = decode([user, calling, { role: 'tool', tool_call_id: 'a', content }])
      const [result] = messages[2]?.content ?? []
      return result?.kind === 'tool-result' ? result.content : []
    }
    for (const url of ['', 'file:///a.png', 'data:image/png;base64,#', 'data:text/plain;base64,YQ==']) {
      assert.deepEqual(resultOf(image(url)), [text('[image omitted: it could not be read]')], url)
    }
    for (const file of [{ file_id: 'file-1' }, { file_data: 'data:application/pdf;base64,AAAA' }, {}]) {
      assert.deepEqual(resultOf({ type: 'file', file }), [text('[file omitted: model accepts text only]')])
    }
    assert.deepEqual(resultOf({ type: 'file', file: { file_data: 'data:text/plain;base64,YQ==' } }), [text('a')])
  })

  test('images that are not images or not base64 are refused', () => {
    const path = 'messages[0].content[0].image_url.url'
    for (const url of [
      '',
      'x',
      'data:image/png,abc',
      'data:text/plain;base64,YQ==',
      'data:image/png;base64,',
      'data:image/png;base64,#',
    ]) {
      assert.deepEqual(refusalOf([userOf(image(url))]), [path, 'invalid_value'], url)
    }
  })

  test('audio content is refused', () => {
    assert.deepEqual(refusalOf([userOf({ type: 'input_audio', input_audio: { data: '', format: 'wav' } })]), [
      'messages[0].content[0].type',
      'unsupported_value',
    ])
  })

  test('a plain text file is inlined, any other is refused', () => {
    const file = (value: Fields) => userOf({ type: 'file', file: value })
    const { messages } = decode([
      file({ file_data: 'data:text/plain;charset=utf-8;base64,R3LDvMOfZQ==', filename: 'a.txt' }),
    ])
    assert.deepEqual(messages[0]?.content, [text('Grüße')])
    assert.deepEqual(refusalOf([file({ file_id: 'file-1' })]), [
      'messages[0].content[0].file.file_id',
      'unsupported_parameter',
    ])
    assert.deepEqual(refusalOf([file({ file_data: 'data:application/pdf;base64,AAAA' })]), [
      'messages[0].content[0].file.file_data',
      'unsupported_value',
    ])
    assert.deepEqual(refusalOf([file({})]), ['messages[0].content[0].file.file_data', 'missing_required_parameter'])
  })

  test('a part must fit its role', () => {
    assert.deepEqual(refusalOf([{ role: 'system', content: [image(png)] }]), [
      'messages[0].content[0].type',
      'invalid_value',
    ])
    assert.deepEqual(refusalOf([{ role: 'assistant', content: [image(png)] }, user]), [
      'messages[0].content[0].type',
      'invalid_value',
    ])
    assert.deepEqual(refusalOf([userOf({ type: 'refusal', refusal: 'x' })]), [
      'messages[0].content[0].type',
      'invalid_value',
    ])
  })
})
