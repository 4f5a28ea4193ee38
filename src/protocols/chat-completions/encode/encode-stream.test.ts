import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { collect } from '../../../core/collect.ts'
import type { BlockStart, FinishReason, GenerationEvent, TokenLogprob, Usage } from '../../../core/generation.ts'
import type { DecodedRequest } from '../../protocol.ts'
import { checkChatStream } from '../../../../test/validators/chat-stream.ts'
import { createChatCompletionsProtocol } from '../chat-completions-format.ts'

type Fields = Record<string, unknown>
type Chunk = { choices: { delta: Fields; logprobs: unknown; finish_reason: string | null }[]; usage?: unknown }
type Block = { readonly start: BlockStart; readonly texts: readonly string[] }

const usage: Usage = {
  inputUncached: 100,
  inputCacheRead: 640,
  inputCacheWrite: 72,
  inputCacheWriteLong: 0,
  output: 57,
  outputThinking: 31,
}
const meta = { requestId: 'req_abc', model: 'clarke-1.0', createdAtMs: 1_795_219_200_900 } as const
const protocol = createChatCompletionsProtocol({ readFingerprint: () => 'fp_test' })
const tools = [
  { type: 'function', function: { name: 'f' } },
  { type: 'custom', custom: { name: 'c' } },
]

function decode(fields: Fields = {}): DecodedRequest {
  return protocol.decode({ model: 'clarke-1.0', messages: [{ role: 'user', content: 'Hi' }], ...fields })
}

async function* play(
  blocks: readonly Block[],
  reason: FinishReason,
  withLogprobs = false,
): AsyncGenerator<GenerationEvent> {
  yield { type: 'start', usage }
  for (const { start, texts } of blocks) {
    yield { type: 'block-start', block: start }
    for (const text of texts) {
      const logprobs: TokenLogprob[] = [
        { bytes: Buffer.from(text), logprob: -1, top: [{ bytes: Buffer.from('x'), logprob: -2 }] },
      ]
      yield { type: 'delta', text, tokens: 1, ...(withLogprobs && { logprobs }) }
    }
    yield { type: 'block-end' }
  }
  yield { type: 'finish', reason, usage }
}

async function record(
  decoded: DecodedRequest,
  events: AsyncIterable<GenerationEvent>,
  includeUsage = false,
): Promise<Chunk[]> {
  const frames = []
  for await (const { event, data } of decoded.encoder.encodeStream(events, meta)) frames.push({ event, data })
  checkChatStream(frames, { includeUsage })
  return frames.slice(0, -1).map(({ data }) => JSON.parse(data) as Chunk)
}

const thinking = (...texts: string[]): Block => ({ start: { kind: 'thinking' }, texts })
const text = (...texts: string[]): Block => ({ start: { kind: 'text' }, texts })
const call = (id: string, name: string, ...texts: string[]): Block => ({
  start: { kind: 'tool-call', id, name },
  texts,
})
const end: FinishReason = { kind: 'end' }
const calls: FinishReason = { kind: 'tool-calls' }

suite('stream', () => {
  test('an answer with reasoning, text and calls goes out chunk by chunk', async () => {
    const blocks = [
      thinking('Let'),
      text('Checking. '),
      call('call_1', 'f', '{"a', '":1}'),
      call('call_2', 'c', 'free'),
    ]
    const chunks = await record(decode({ tools }), play(blocks, calls))
    const head = {
      id: 'chatcmpl-abc',
      object: 'chat.completion.chunk',
      created: 1_795_219_200,
      model: 'clarke-1.0',
      system_fingerprint: 'fp_test',
    }
    const expected = [
      { role: 'assistant', content: '', refusal: null },
      { reasoning_content: 'Let', reasoning: 'Let' },
      { content: 'Checking. ' },
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{"a' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '":1}' } }] },
      { tool_calls: [{ index: 1, id: 'call_2', type: 'custom', custom: { name: 'c', input: '' } }] },
      { tool_calls: [{ index: 1, custom: { input: 'free' } }] },
      {},
    ].map((delta, position, all) => {
      const reason = position === all.length - 1 ? 'tool_calls' : null
      return { ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] }
    })
    assert.deepEqual(chunks, expected)
  })

  test('the role goes out before the first token exists', async () => {
    async function* waiting(): AsyncGenerator<GenerationEvent> {
      yield { type: 'start', usage }
      throw new Error('nothing more is asked for')
    }
    const frames = decode().encoder.encodeStream(waiting(), meta)
    const { value } = await frames.next()
    assert.match(value?.data ?? '', /"role":"assistant"/)
    await assert.rejects(frames.next(), /nothing more/)
  })

  test('usage comes last and only when asked for, in either spelling', async () => {
    for (const fields of [{ stream_options: { include_usage: true } }, { usage: { include: true } }]) {
      const chunks = await record(decode(fields), play([text('Hi')], end), true)
      assert.deepEqual(chunks.at(-1)?.usage, {
        prompt_tokens: 812,
        completion_tokens: 57,
        total_tokens: 869,
        prompt_tokens_details: { cached_tokens: 640, cache_write_tokens: 72, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 31,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      })
    }
  })

  test('hidden reasoning is not sent', async () => {
    for (const fields of [{ reasoning: { exclude: true } }, { include_reasoning: false }]) {
      const chunks = await record(decode(fields), play([thinking('secret'), text('Hi')], end))
      assert.ok(!JSON.stringify(chunks).includes('secret'))
      assert.ok(JSON.stringify(chunks).includes('Hi'))
    }
  })

  test('a call in the older form goes out as function_call', async () => {
    const decoded = decode({ functions: [{ name: 'f' }] })
    const chunks = await record(decoded, play([call('a', 'f', '{}'), call('b', 'f', '{}')], calls))
    assert.deepEqual(
      chunks.slice(1).map(({ choices }) => choices[0]?.delta),
      [{ function_call: { name: 'f', arguments: '' } }, { function_call: { arguments: '{}' } }, {}],
    )
    assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, 'function_call')
  })

  test('a call without arguments says {}, but not when it was cut', async () => {
    const whole = await record(decode({ tools }), play([call('a', 'f'), call('b', 'f')], calls))
    assert.equal(JSON.stringify(whole).split('"{}"').length - 1, 2)
    const cut = await record(decode({ tools }), play([call('a', 'f')], { kind: 'length' }))
    assert.ok(!JSON.stringify(cut).includes('"{}"'))
    assert.equal(cut.at(-1)?.choices[0]?.finish_reason, 'length')
  })

  test('log-probabilities go with their text only', async () => {
    const blocks = [thinking('Let'), text('Hé', '👍'), call('a', 'f', '{}')]
    const chunks = await record(decode({ tools, logprobs: true }), play(blocks, calls, true))
    assert.deepEqual(
      chunks.map(({ choices }) => choices[0]?.logprobs !== null),
      [false, false, true, true, false, false, false],
    )
  })

  test('text after a call and reasoning after text are left out', async () => {
    const blocks = [text('A'), thinking('late'), call('a', 'f', '{}'), text('after')]
    const chunks = await record(decode({ tools }), play(blocks, calls))
    assert.ok(!/late|after/.test(JSON.stringify(chunks)))
  })
})

suite('broken streams', () => {
  test('a failure is thrown on, without [DONE]', async () => {
    const failure = new Error('boom')
    async function* failing(): AsyncGenerator<GenerationEvent> {
      yield { type: 'start', usage }
      throw failure
    }
    const seen: string[] = []
    await assert.rejects(
      async () => {
        for await (const { data } of decode().encoder.encodeStream(failing(), meta)) seen.push(data)
      },
      (error) => error === failure,
    )
    assert.equal(seen.length, 1)
    assert.ok(!seen.includes('[DONE]'))
  })

  test('a stream without a finish throws', async () => {
    async function* endless(): AsyncGenerator<GenerationEvent> {
      for await (const event of play([text('Hi')], end)) if (event.type !== 'finish') yield event
    }
    await assert.rejects(async () => {
      for await (const _ of decode().encoder.encodeStream(endless(), meta));
    }, /without a finish/)
  })

  test('closing the frames closes the source', async () => {
    let isClosed = false
    async function* source(): AsyncGenerator<GenerationEvent> {
      try {
        yield* play([text('a', 'b', 'c')], end)
      } finally {
        isClosed = true
      }
    }
    for await (const _ of decode().encoder.encodeStream(source(), meta)) break
    assert.ok(isClosed)
  })
})

/** Rebuilds the message as the clients do: by appending whatever the deltas hold. */
function accumulate(chunks: readonly Chunk[]): Fields {
  const message: Record<string, string> = {}
  const tools: Record<string, unknown>[] = []
  const legacy: Fields[] = []
  for (const { choices } of chunks) {
    const delta = choices[0]?.delta ?? {}
    for (const key of ['content', 'reasoning', 'reasoning_content']) {
      const part = delta[key]
      if (typeof part === 'string') message[key] = (message[key] ?? '') + part
    }
    for (const { index, ...wire } of (delta['tool_calls'] ?? []) as { index: number; [key: string]: unknown }[]) {
      const known = tools[index]
      if (known === undefined) tools[index] = structuredClone(wire)
      else extend(known, wire)
    }
    const part = delta['function_call'] as Fields | undefined
    if (part !== undefined) legacy.push(part)
  }
  const hasCalls = tools.length > 0 || legacy.length > 0
  return {
    ...message,
    content: message['content'] === '' && hasCalls ? null : message['content'],
    ...(tools.length > 0 && { tool_calls: tools }),
    ...(legacy.length > 0 && {
      function_call: { ...legacy[0], arguments: legacy.map((part) => part['arguments']).join('') },
    }),
  }
}

function extend(known: Fields, wire: Fields): void {
  for (const [kind, key] of [
    ['function', 'arguments'],
    ['custom', 'input'],
  ] as const) {
    const [target, part] = [known[kind] as Fields | undefined, wire[kind] as Fields | undefined]
    if (target !== undefined && part !== undefined) target[key] = String(target[key]) + String(part[key])
  }
}

const texts = fc.array(fc.oneof(fc.string(), fc.string({ unit: 'grapheme' })), { maxLength: 4 })
const block = fc.oneof(
  texts.map((parts) => thinking(...parts)),
  texts.map((parts) => text(...parts)),
  fc
    .tuple(fc.uuid(), fc.jsonValue())
    .map(([id, value]) => call(id, 'f', ...(JSON.stringify(value).match(/.{1,3}/gsu) ?? []))),
  fc.tuple(fc.uuid(), texts).map(([id, parts]) => call(id, 'c', ...parts)),
  fc.uuid().map((id) => call(id, 'f')),
)
const reasons = fc.constantFrom<FinishReason[]>(
  end,
  calls,
  { kind: 'length' },
  { kind: 'window' },
  { kind: 'refusal' },
  { kind: 'stop-sequence', sequence: 'x' },
)

test('a stream and a whole answer say the same', async () => {
  const shapes = fc.constantFrom<Fields[]>(
    { tools },
    { tools, include_reasoning: false },
    { functions: [{ name: 'f' }, { name: 'c' }] },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(block, { maxLength: 6 }),
      reasons,
      shapes,
      fc.boolean(),
      async (blocks, reason, fields, withLogprobs) => {
        // The older form has no text tools: every call carries JSON.
        const played =
          'functions' in fields ? blocks.filter(({ start }) => !('name' in start && start.name === 'c')) : blocks
        const decoded = decode({ ...fields, stream_options: { include_usage: true } })
        const chunks = await record(decoded, play(played, reason, withLogprobs), true)
        const answer = decoded.encoder.encodeAnswer(
          [await collect(play(played, reason, withLogprobs))],
          meta,
        ) as unknown as {
          id: string
          choices: { message: Fields; finish_reason: string; logprobs: { content: unknown[] } | null }[]
          usage: unknown
        }
        const [choice] = answer.choices
        const { role, refusal, annotations, ...message } = choice?.message ?? {}
        assert.deepEqual([role, refusal, annotations], ['assistant', null, []])
        assert.deepEqual(accumulate(chunks), message)
        assert.deepEqual(chunks.at(-1)?.usage, answer.usage)
        assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, choice?.finish_reason)
        const tokens = chunks.flatMap(
          ({ choices }) => (choices[0]?.logprobs as { content: unknown[] } | null | undefined)?.content ?? [],
        )
        assert.deepEqual(tokens, choice?.logprobs?.content ?? [])
      },
    ),
    { numRuns: 500 },
  )
})
