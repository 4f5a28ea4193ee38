import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkMessagesStream } from '../../../../test/validators/messages-stream.ts'
import { checkStream } from '../../../core/check-stream.ts'
import { collect } from '../../../core/collect.ts'
import type { BlockStart, FinishReason, GenerationEvent, Usage } from '../../../core/generation.ts'
import type { AnswerMeta, SseMessage } from '../../protocol.ts'
import { createMessagesProtocol } from '../messages-format.ts'
import { createThinkingSignature } from '../thinking-signature.ts'

const signatureKey = new Uint8Array(32).fill(3)
const protocol = createMessagesProtocol({ signatureKey })
const meta: AnswerMeta = { requestId: 'req_0123456789abcdefghijklmn', model: 'hal-1.0', createdAtMs: 0 }
const start: Usage = {
  inputUncached: 172,
  inputCacheRead: 640,
  inputCacheWrite: 20,
  inputCacheWriteLong: 0,
  output: 1,
  outputThinking: 0,
}
const final: Usage = { ...start, output: 57, outputThinking: 31 }

type Fields = { readonly [key: string]: unknown }
type Block = { readonly block: BlockStart; readonly texts: readonly string[] }

const thinking = (...texts: string[]): Block => ({ block: { kind: 'thinking' }, texts })
const text = (...texts: string[]): Block => ({ block: { kind: 'text' }, texts })
const call = (...texts: string[]): Block => ({ block: { kind: 'tool-call', id: 'call_0', name: 'get_weather' }, texts })

function script(blocks: readonly Block[], reason: FinishReason = { kind: 'end' }): GenerationEvent[] {
  const inner = blocks.flatMap(({ block, texts }): GenerationEvent[] => [
    { type: 'block-start', block },
    ...texts.map((part): GenerationEvent => ({ type: 'delta', text: part, tokens: 1 })),
    { type: 'block-end' },
  ])
  return [{ type: 'start', usage: start }, ...inner, { type: 'finish', reason, usage: final }]
}

async function* play(events: readonly GenerationEvent[]): AsyncGenerator<GenerationEvent> {
  yield* events
}

function encoderFor(fields: Record<string, unknown> = {}) {
  const messages = [{ role: 'user', content: 'Hi' }]
  return protocol.decode({ model: 'hal-1.0', max_tokens: 100, messages, ...fields }).encoder
}

type Wire = { readonly event: string | undefined; readonly data: string }

async function stream(events: readonly GenerationEvent[], fields: Record<string, unknown> = {}): Promise<Wire[]> {
  const frames: Wire[] = []
  for await (const { event, data } of encoderFor(fields).encodeStream(checkStream(play(events)), meta))
    frames.push({ event, data })
  return frames
}

function parse(frames: readonly Wire[]): Fields[] {
  return frames.map(({ data }) => JSON.parse(data) as Fields)
}

/** Folds frames into the message a client ends up with. */
function fold(frames: readonly Wire[]): Fields {
  let message: Record<string, unknown> = {}
  const content: Record<string, unknown>[] = []
  const inputs: string[] = []
  for (const event of parse(frames) as Record<string, Record<string, string>>[]) {
    const index = Number(event['index'])
    const { type: _, ...delta } = event['delta'] ?? {}
    if (event['message'] !== undefined) message = { ...event['message'] }
    if (event['content_block'] !== undefined) content[index] = { ...event['content_block'] }
    if (event['type'] === ('content_block_delta' as unknown)) {
      for (const [key, value] of Object.entries(delta)) {
        if (key === 'partial_json') inputs[index] = (inputs[index] ?? '') + value
        else content[index] = { ...content[index], [key]: `${String(content[index]?.[key])}${value}` }
      }
    }
    if (event['type'] === ('message_delta' as unknown)) {
      message = { ...message, ...delta, usage: { ...(message['usage'] as object), ...event['usage'] } }
      if (event['context_management'] !== undefined) message['context_management'] = event['context_management']
    }
  }
  for (const [index, input] of inputs.entries()) if (input !== undefined) content[index]!['input'] = JSON.parse(input)
  return { ...message, content }
}

test('a stream of every kind of block goes out frame by frame', async () => {
  const blocks = [thinking('The user', ' asks'), text('I will', ' check.'), call('{"city":', '"Rome"}')]
  const frames = await stream(script(blocks, { kind: 'tool-calls' }))
  checkMessagesStream(frames)
  const signature = createThinkingSignature(signatureKey).sign('The user asks')
  const toolUse = { type: 'tool_use', id: 'toolu_0123456789abcdefghijklmn_2', name: 'get_weather', input: {} }
  const [first, ...rest] = parse(frames)
  deepEqual(first, {
    type: 'message_start',
    message: {
      id: 'msg_0123456789abcdefghijklmn',
      type: 'message',
      role: 'assistant',
      model: 'hal-1.0',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: {
        input_tokens: 172,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 640,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 0 },
        output_tokens: 0,
        output_tokens_details: null,
        server_tool_use: null,
        service_tier: 'standard',
        inference_geo: null,
        speed: 'standard',
      },
    },
  })
  deepEqual(rest, [
    { type: 'ping' },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'The user' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: ' asks' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '', citations: null } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'I will' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: ' check.' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { ...toolUse, caller: { type: 'direct' } } },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '"Rome"}' } },
    { type: 'content_block_stop', index: 2 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null, stop_details: null, container: null },
      usage: {
        input_tokens: 172,
        cache_creation_input_tokens: 20,
        cache_read_input_tokens: 640,
        output_tokens: 57,
        output_tokens_details: { thinking_tokens: 31 },
        server_tool_use: null,
      },
    },
    { type: 'message_stop' },
  ])
})

test('omitted thinking sends its signature and no text', async () => {
  const frames = await stream(script([thinking('secret ', 'plan'), text('Hi')]), {
    thinking: { type: 'adaptive', display: 'omitted' },
  })
  checkMessagesStream(frames)
  ok(!frames.some(({ data }) => data.includes('thinking_delta') || data.includes('secret')))
  const [block] = fold(frames)['content'] as { thinking: string; signature: string }[]
  equal(block?.thinking, '')
  equal(createThinkingSignature(signatureKey).open('', block.signature), 'secret plan')
})

test('blocks without content are not opened and take no index', async () => {
  const frames = await stream(
    script([thinking('\n', '\n'), text(), text('', ' \n'), call('{}')], { kind: 'tool-calls' }),
  )
  checkMessagesStream(frames)
  deepEqual(
    (fold(frames)['content'] as Fields[]).map(({ type }) => type),
    ['tool_use'],
  )
})

test('blank lines before a text are held back and its indentation is not', async () => {
  const frames = await stream(script([thinking('hm'), text('\n', '\n  ', 'def f():', '\n  pass\n')]))
  checkMessagesStream(frames)
  equal((fold(frames)['content'] as Fields[])[1]?.['text'], '  def f():\n  pass\n')
})

test('a text that the client began goes on with its own white space', async () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Dear' },
  ]
  const frames = await stream(script([text('\n', ' friend')]), { messages })
  checkMessagesStream(frames)
  equal((fold(frames)['content'] as Fields[])[0]?.['text'], '\n friend')
  const blank = await stream(script([text('\n', ' ')]), { messages })
  checkMessagesStream(blank)
  deepEqual(fold(blank)['content'], [])
})

test('an immediate end and a filled cache give an answer without content', async () => {
  for (const reason of [{ kind: 'end' }, { kind: 'length' }] as const) {
    const frames = await stream(script([], reason))
    checkMessagesStream(frames)
    deepEqual(fold(frames)['content'], [])
  }
})

test('every reason to stop has its name', async () => {
  const names: [FinishReason, string][] = [
    [{ kind: 'end' }, 'end_turn'],
    [{ kind: 'length' }, 'max_tokens'],
    [{ kind: 'window' }, 'model_context_window_exceeded'],
    [{ kind: 'refusal' }, 'refusal'],
    [{ kind: 'stop-sequence', sequence: 'END' }, 'stop_sequence'],
  ]
  for (const [reason, name] of names) {
    const frames = await stream(script([text('x')], reason))
    checkMessagesStream(frames)
    equal(fold(frames)['stop_reason'], name)
    equal(fold(frames)['stop_sequence'], reason.kind === 'stop-sequence' ? 'END' : null)
  }
  const details = fold(await stream(script([], { kind: 'refusal' })))['stop_details']
  deepEqual(details, { type: 'refusal', category: null, explanation: null })
})

test('an answer with a call that ends of itself ends with tool_use', async () => {
  const frames = await stream(script([call('{}')], { kind: 'end' }))
  checkMessagesStream(frames)
  equal(fold(frames)['stop_reason'], 'tool_use')
})

test('a call cut short keeps what was sent of its input', async () => {
  const frames = await stream(script([call('{"city":"Ro')], { kind: 'length' }))
  checkMessagesStream(frames)
  ok(frames.some(({ data }) => data.includes('Ro')))
})

test('context management is answered where it was asked for', async () => {
  const frames = await stream(script([text('x')]), {
    context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
  })
  checkMessagesStream(frames)
  deepEqual(fold(frames)['context_management'], { applied_edits: [] })
  ok(!(await stream(script([text('x')]))).some(({ data }) => data.includes('context_management')))
})

test('cache writes are told apart by how long they are kept', async () => {
  const written = async (inputCacheWriteLong: number) => {
    const usageSoFar = { ...start, inputCacheWriteLong }
    const { usage } = fold(await stream([{ type: 'start', usage: usageSoFar }, ...script([]).slice(1)])) as {
      usage: Fields
    }
    return usage['cache_creation']
  }
  deepEqual(await written(20), { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 20 })
  deepEqual(await written(15), { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 })
})

test('a failure of the source is thrown on and leaves the stream open', async () => {
  for (const length of [0, 1, 2, 3, 4, 5]) {
    const frames: SseMessage[] = []
    const broken = async function* () {
      yield* script([text('a')]).slice(0, length)
      throw new Error('engine died')
    }
    const read = async () => {
      for await (const frame of encoderFor().encodeStream(broken(), meta)) frames.push(frame)
    }
    await rejects(read, { message: 'engine died' })
    ok(!frames.some(({ event }) => event === 'message_stop' || event === 'message_delta'))
  }
})

test('a source that ends early is a failure', async () => {
  await rejects(async () => {
    for await (const _ of encoderFor().encodeStream(play(script([text('a')]).slice(0, -1)), meta));
  }, /without a finish/)
})

test('a reader that leaves early closes the source', async () => {
  let isClosed = false
  const source = async function* () {
    try {
      yield* script([text('a', 'b', 'c')])
    } finally {
      isClosed = true
    }
  }
  for await (const { event } of encoderFor().encodeStream(source(), meta)) if (event === 'content_block_delta') break
  equal(isClosed, true)
})

const pieces = fc.array(fc.oneof(fc.string(), fc.constantFrom('', ' ', '\n', 'word')), { maxLength: 5 })
const anyInput = fc.dictionary(fc.string(), fc.jsonValue()).map((input) => JSON.stringify(input))
const anyBlock = fc.oneof(
  pieces.map((texts) => thinking(...texts)),
  pieces.map((texts) => text(...texts)),
  fc
    .tuple(anyInput, fc.nat())
    .map(([input, at]) => call(input.slice(0, at % input.length), input.slice(at % input.length))),
)
const anyFields = fc.record({
  thinking: fc.constantFrom({ type: 'adaptive', display: 'omitted' }, { type: 'adaptive' }),
  context_management: fc.constantFrom(null, { edits: [] }),
  cache_control: fc.constantFrom(null, { type: 'ephemeral', ttl: '1h' }),
})

test('a stream adds up to the whole answer, and every stream is valid', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyBlock, { maxLength: 5 }), anyFields, async (blocks, fields) => {
      const hasCall = blocks.some(({ block }) => block.kind === 'tool-call')
      const events = script(blocks, { kind: hasCall ? 'tool-calls' : 'end' })
      const frames = await stream(events, fields)
      checkMessagesStream(frames)
      const answer = encoderFor(fields).encodeAnswer([await collect(play(events))], meta)
      deepEqual(fold(frames), JSON.parse(JSON.stringify(answer)))
    }),
  )
})

test('what an answer says comes back as it was when the client replays it', async () => {
  const blocks = [thinking('plan'), text('I check.'), call('{"b":1,"a":2}')]
  for (const display of ['omitted', 'summarized']) {
    const fields = { thinking: { type: 'adaptive', display } }
    const { content } = fold(await stream(script(blocks, { kind: 'tool-calls' }), fields))
    const result = { type: 'tool_result', tool_use_id: (content as Fields[])[2]?.['id'], content: 'ok' }
    const messages = [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content },
      { role: 'user', content: [result] },
    ]
    const decoded = protocol.decode({ model: 'hal-1.0', max_tokens: 100, messages, ...fields }).request.messages[1]
    deepEqual(decoded?.content, [
      { kind: 'thinking', text: 'plan' },
      { kind: 'text', text: 'I check.' },
      { kind: 'tool-call', id: result.tool_use_id, name: 'get_weather', arguments: '{"b":1,"a":2}' },
    ])
  }
})

test('the ping of the protocol is the one in the stream', async () => {
  const [, second] = await stream(script([]))
  deepEqual(second, protocol.ping)
  match(second!.data, /^\{"type":"ping"\}$/)
})

test('the validator notices every frame that is missing, repeated or changed', async () => {
  const blocks = [thinking('The user asks'), text('I will check.'), call('{"city":"Rome"}')]
  const frames = await stream(script(blocks, { kind: 'tool-calls' }))
  for (const [index, frame] of frames.entries()) {
    const isDelta = frame.event === 'content_block_delta' && !frame.data.includes('signature_delta')
    if (!isDelta) throws(() => checkMessagesStream(frames.toSpliced(index, 1)), `without frame ${index}`)
    if (!isDelta && frame.event !== 'ping')
      throws(() => checkMessagesStream(frames.toSpliced(index, 0, frame)), `frame ${index} twice`)
    throws(() => checkMessagesStream(frames.with(index, { ...frame, event: undefined })))
    throws(() => checkMessagesStream(frames.with(index, { event: 'error', data: '{"type":"error"}' })))
  }
  const changes: [RegExp | string, string][] = [
    ['"index":1', '"index":3'],
    ['"stop_reason":"tool_use"', '"stop_reason":null'],
    ['"stop_reason":"tool_use"', '"stop_reason":"end_turn"'],
    ['"stop_sequence":null,"stop_details":null,"container":null}', '"stop_details":null,"container":null}'],
    ['"text_delta"', '"thinking_delta"'],
    ['"citations":null', '"citations":[]'],
    ['"input":{}', '"input":{"city":"Rome"}'],
    ['"input_tokens":172', '"input_tokens":null'],
    ['"output_tokens":57', '"output_tokens":-1'],
    ['"id":"msg_0123456789abcdefghijklmn"', '"id":"msg_1"'],
    ['{\\"city\\":\\"Rome\\"}', '{\\"city\\":'],
    [/"signature":"A[^"]+"/, '"signature":""'],
  ]
  for (const [from, to] of changes) {
    const changed = frames.map(({ event, data }) => ({ event, data: data.replace(from, to) }))
    ok(
      changed.some(({ data }, index) => data !== frames[index]?.data),
      String(from),
    )
    throws(() => checkMessagesStream(changed), String(from))
  }
  throws(() => checkMessagesStream([...frames, { event: undefined, data: '[DONE]' }]))
})
