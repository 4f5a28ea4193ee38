import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../../core/error.ts'
import { createMessagesProtocol } from '../messages-format.ts'

const protocol = createMessagesProtocol({ signatureKey: new Uint8Array(32) })
const least = { model: 'clarke-1.0', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] }

function decode(fields: Record<string, unknown>) {
  return protocol.decode({ ...least, ...fields })
}

function failure(body: unknown, decodeBody: (body: unknown) => unknown = protocol.decode): ApiError {
  try {
    decodeBody(body)
  } catch (error) {
    ok(error instanceof ApiError, String(error))
    equal(error.code, 'invalid-request')
    return error
  }
  throw new Error('The body was accepted.')
}

function pathOf(error: ApiError): string {
  return error.reason.code === 'invalid-request' ? (error.reason.path ?? []).join('.') : ''
}

test('the least request leaves every setting to the model', () => {
  const { request, isStream } = protocol.decode(least)
  equal(isStream, false)
  deepEqual(request, {
    model: 'clarke-1.0',
    messages: [{ role: 'user', content: [{ kind: 'text', text: 'Hi' }] }],
    continuesFinalMessage: false,
    tools: [],
    toolChoice: { kind: 'auto', parallel: true, allowed: null },
    thinking: { kind: 'default' },
    output: { kind: 'text' },
    sampling: {
      temperature: null,
      topP: null,
      topK: null,
      minP: null,
      presencePenalty: 0,
      frequencyPenalty: 0,
      repetitionPenalty: 1,
      seed: null,
      logitBias: [],
    },
    outputTokensMax: 100,
    outputTokensMin: 0,
    stopSequences: [],
    includesStopSequence: false,
    logprobsTop: null,
    choiceCount: 1,
  })
})

test('sampling, stop sequences and the stream flag are honoured', () => {
  const { request, isStream } = decode({ temperature: 0, top_p: 0.9, top_k: 40, stop_sequences: ['END'], stream: true })
  equal(isStream, true)
  deepEqual([request.sampling.temperature, request.sampling.topP, request.sampling.topK], [0, 0.9, 40])
  // Engines refuse a plain zero.
  const { topP } = decode({ top_p: 0 }).request.sampling
  ok(topP !== null && topP > 0 && topP < 1e-6)
  deepEqual(request.stopSequences, ['END'])
})

/** Every optional field with a value of its right type. */
const optionalFields: Record<string, unknown> = {
  system: 'Be terse.',
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
  tool_choice: { type: 'auto' },
  thinking: { type: 'adaptive' },
  output_config: { effort: 'low' },
  output_format: { type: 'json_schema', schema: {} },
  cache_control: { type: 'ephemeral' },
  context_management: { edits: [] },
  mcp_servers: [],
  speed: 'fast',
  stream: true,
  stop_sequences: ['x'],
  temperature: 1,
  top_p: 1,
  top_k: 0,
  inference_geo: '',
  container: {},
  metadata: { user_id: 'u' },
  service_tier: 'auto',
  diagnostics: { previous_message_id: null },
  user_profile_id: 'p',
  workspace_id: 'w',
  betas: ['b'],
  anthropic_beta: ['b'],
  compaction: {},
  safeguards: {},
  tags: {},
  data_flow: {},
}

test('null equals absent for every optional field', () => {
  const bare = protocol.decode(least).request
  for (const field of [...Object.keys(optionalFields), 'thread'])
    deepEqual(decode({ [field]: null }).request, bare, field)
  deepEqual(decode({ output_config: { effort: null, format: null }, metadata: { user_id: null } }).request, bare)
})

test('every optional field is accepted with a value of its type', () => {
  for (const [field, value] of Object.entries(optionalFields)) {
    const others = field === 'tool_choice' ? { tools: optionalFields['tools'] } : {}
    protocol.decode({ ...least, ...others, [field]: value })
  }
})

test('a field of a wrong type is refused by its path', () => {
  for (const [field, value] of Object.entries({ ...optionalFields, ...least })) {
    for (const wrong of [true, 5.5, 'text', [1], { type: 5 }]) {
      if (isOfType(wrong, value, field)) continue
      const error = failure({ ...least, [field]: wrong })
      ok(pathOf(error).startsWith(field), `${field} ${JSON.stringify(wrong)}: ${error.message}`)
      ok(error.message.startsWith(field), error.message)
    }
  }
})

function isOfType(wrong: unknown, right: unknown, field: string): boolean {
  if (Array.isArray(right)) return field === 'mcp_servers' && Array.isArray(wrong)
  if (typeof right === 'object' || field === 'system') {
    const isOpen = !['tool_choice', 'thinking', 'output_format', 'cache_control'].includes(field)
    const isText = typeof wrong === 'string' && ['system', 'container'].includes(field)
    return isText || (isOpen && field !== 'system' && typeof wrong === 'object' && !Array.isArray(wrong))
  }
  return typeof wrong === typeof right && typeof right !== 'number'
}

test('missing fields are named', () => {
  equal(failure({ model: 'hal-1.0', messages: least.messages }).message, 'max_tokens: Field required')
  equal(failure({ max_tokens: 1, messages: least.messages }).message, 'model: Field required')
  equal(failure({ model: 'hal-1.0', max_tokens: 1 }).message, 'messages: Field required')
  equal(failure({ ...least, messages: [{ role: 'user' }] }).message, 'messages.0.content: Field required')
  equal(failure({ ...least, messages: [] }).message, 'messages: at least one message is required')
})

test('a body that is no object is refused', () => {
  for (const body of [null, undefined, 5, 'text', [], true]) {
    equal(failure(body).message, 'The request body must be a JSON object.')
  }
})

test('numbers out of range are refused', () => {
  const cases: [Record<string, unknown>, string][] = [
    [{ temperature: 1.1 }, 'temperature: Input should be less than or equal to 1'],
    [{ temperature: -0.1 }, 'temperature: Input should be greater than or equal to 0'],
    [{ top_p: 2 }, 'top_p: Input should be less than or equal to 1'],
    [{ top_k: -1 }, 'top_k: Input should be greater than or equal to 0'],
    [{ max_tokens: -1 }, 'max_tokens: Input should be greater than or equal to 0'],
  ]
  for (const [fields, message] of cases) equal(failure({ ...least, ...fields }).message, message)
})

test('numbers beyond 2^53, by which clients mean no limit, are the largest there are', () => {
  const { request } = decode({ max_tokens: 2 ** 63, top_k: 2 ** 32 + 1 })
  equal(request.outputTokensMax, Number.MAX_SAFE_INTEGER)
  equal(request.sampling.topK, 2 ** 31 - 1)
  const thinking = { type: 'enabled', budget_tokens: 2 ** 63 }
  deepEqual(decode({ max_tokens: 2 ** 63, thinking }).request.thinking, {
    kind: 'on',
    tokensMax: Number.MAX_SAFE_INTEGER - 1,
  })
  equal(failure({ ...least, max_tokens: 1.5 }).message, 'max_tokens: Input should be a valid integer')
})

test('a stop sequence of white space alone is refused', () => {
  equal(
    failure({ ...least, stop_sequences: ['ok', ' \n'] }).message,
    'stop_sequences.1: Input should contain a non-whitespace character',
  )
})

test('more stop sequences than a client needs, and endless ones, are refused', () => {
  const refusal = (stop_sequences: readonly string[]) => failure({ ...least, stop_sequences }).message
  equal(refusal(Array.from({ length: 17 }, String)), 'stop_sequences: Input should have at most 16 items')
  equal(refusal(Array.from({ length: 190_000 }, String)), 'stop_sequences: Input should have at most 16 items')
  equal(refusal(['ok', 'a'.repeat(1_025)]), 'stop_sequences.1: Input should have at most 1024 characters')
  const most = Array.from({ length: 16 }, (_, index) => String(index).padEnd(1_024))
  deepEqual(decode({ stop_sequences: most }).request.stopSequences, most)
})

test('unknown values of known fields never fail in another way than by their path', () => {
  for (const field of ['speed', 'service_tier', 'inference_geo']) {
    try {
      decode({ [field]: 'next-year' })
    } catch (error) {
      ok(error instanceof ApiError && pathOf(error) === field)
    }
  }
  ok(
    failure({ ...least, thinking: { type: 'deep' } }).message.startsWith(
      "thinking: Input tag 'deep' found using 'type'",
    ),
  )
  ok(failure({ ...least, output_config: { effort: 'ultra' } }).message.startsWith('output_config.effort: '))
  ok(
    failure({ ...least, output_config: { format: { type: 'xml', schema: {} } } }).message.startsWith(
      'output_config.format.type: ',
    ),
  )
  ok(failure({ ...least, tool_choice: { type: 'maybe' } }).message.startsWith("tool_choice: Input tag 'maybe'"))
})

test('structured output is read from either field and output_config wins', () => {
  const first = { type: 'json_schema', schema: { title: 'first' } }
  const second = { type: 'json_schema', schema: { title: 'second' } }
  deepEqual(decode({ output_format: second }).request.output, {
    kind: 'json',
    schema: { title: 'second' },
    schemaPath: ['output_format', 'schema'],
    isStrict: true,
  })
  const both = decode({ output_config: { format: first }, output_format: second })
  deepEqual(both.request.output, {
    kind: 'json',
    schema: { title: 'first' },
    schemaPath: ['output_config', 'format', 'schema'],
    isStrict: true,
  })
  deepEqual(decode({ output_config: { format: null }, output_format: null }).request.output, { kind: 'text' })
})

test('what would change the answer if it were dropped is refused by name', () => {
  const cases: [Record<string, unknown>, string][] = [
    [{ inference_geo: 'eu' }, 'inference_geo'],
    [{ container: 'container_1' }, 'container'],
    [{ container: { id: null, skills: [{ type: 'custom' }] } }, 'container'],
    [{ mcp_servers: [{ type: 'url', name: 'a', url: 'https://example.com' }] }, 'mcp_servers'],
  ]
  for (const [fields, path] of cases) {
    const error = failure({ ...least, ...fields })
    equal(pathOf(error), path)
    ok(error.message.startsWith(`${path}: `))
  }
  decode({ inference_geo: 'global', container: { id: null, skills: [] } })
})

test('a thread is refused with the code its clients act upon, whatever else the request lacks', () => {
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'late' }
  const continued = { thread: { type: 'continue', previous_message_id: 'msg_1' } }
  for (const messages of [[{ role: 'user', content: [result] }], []]) {
    const error = failure({ ...least, messages, ...continued })
    ok(error.message.startsWith('thread: '))
    ok(error.reason.code === 'invalid-request' && error.reason.detail === 'thread-unsupported')
  }
  failure({ ...least, ...continued }, protocol.count.decodeShaped)
})

test('a conversation that is to be compacted is refused, in a count too', () => {
  for (const decodeShaped of [undefined, protocol.count.decodeShaped]) {
    const error = failure({ ...least, compaction: { type: 'summarize' } }, decodeShaped)
    equal(pathOf(error), 'compaction')
    ok(error.message.startsWith('compaction: '))
  }
  for (const compaction of [{}, { type: null }, { instructions: 'Be brief.' }, null]) {
    decode({ compaction })
    protocol.count.decodeShaped({ ...least, compaction })
  }
})

test('max_tokens 0 fills the cache and excludes what needs an answer', () => {
  equal(decode({ max_tokens: 0 }).request.outputTokensMax, 0)
  equal(decode({ max_tokens: 0, thinking: { type: 'adaptive' } }).request.outputTokensMax, 0)
  const tools = optionalFields['tools']
  const conflicts = [
    { stream: true },
    { thinking: { type: 'enabled', budget_tokens: 1024 } },
    { output_config: { format: { type: 'json_schema', schema: {} } } },
    { output_format: { type: 'json_schema', schema: {} } },
    { tools, tool_choice: { type: 'any' } },
    { tools, tool_choice: { type: 'tool', name: 'look' } },
  ]
  for (const fields of conflicts) equal(pathOf(failure({ ...least, max_tokens: 0, ...fields })), 'max_tokens')
})

test('a count takes the prompt alone', () => {
  const { max_tokens: _, ...body } = least
  const { count } = protocol
  const counted = count.decodeShaped({ ...body, tools: [] })
  deepEqual(count.encode(2095, counted.shape), { input_tokens: 2095 })
  equal(counted.request.outputTokensMax, null)
  deepEqual(counted.request.messages, protocol.decode(least).request.messages)
  const managed = count.decodeShaped({ ...body, context_management: { edits: [] } })
  deepEqual(count.encode(3, managed.shape), { input_tokens: 3, context_management: { original_input_tokens: 3 } })
})

test('a count ignores generation fields and compares no budget with them', () => {
  const { request } = protocol.count.decodeShaped({
    ...least,
    max_tokens: 'many',
    temperature: 9,
    thinking: { type: 'enabled', budget_tokens: 50_000 },
    messages: [...least.messages, { role: 'assistant', content: 'So' }],
  })
  deepEqual(request.thinking, { kind: 'on', tokensMax: 50_000 })
  equal(failure({ model: 'hal-1.0' }, protocol.count.decodeShaped).message, 'messages: Field required')
})

/** A request that uses every nested shape. */
const full = {
  ...least,
  system: [{ type: 'text', text: 'Be terse.', cache_control: { type: 'ephemeral', ttl: '5m' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hi' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'document', title: 'T', source: { type: 'text', media_type: 'text/plain', data: 'D' } },
        { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'c' }] },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'foreign' },
        { type: 'tool_use', id: 'call_1', name: 'look', input: { at: 'it' } },
      ],
    },
    { role: 'system', content: 'Note.' },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'seen' }], is_error: false },
      ],
    },
  ],
  tools: [
    {
      name: 'look',
      description: 'Looks.',
      input_schema: { type: 'object' },
      cache_control: { type: 'ephemeral', ttl: '1h' },
    },
  ],
  tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
  thinking: { type: 'enabled', budget_tokens: 2048, display: 'omitted' },
  output_config: { effort: 'high', format: { type: 'json_schema', schema: { type: 'object' } } },
}

type Location = { readonly holder: Record<string, unknown>; readonly path: readonly (string | number)[] }

/** Every object in a value that is not the client's own JSON, with its path. */
function places(value: unknown, path: readonly (string | number)[] = []): Location[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => places(item, [...path, index]))
  if (typeof value !== 'object' || value === null) return []
  if (['input', 'input_schema', 'schema'].includes(String(path.at(-1)))) return []
  const holder = value as Record<string, unknown>
  return [{ holder, path }, ...Object.entries(holder).flatMap(([key, item]) => places(item, [...path, key]))]
}

test('unknown fields are ignored at every level', () => {
  const expected = protocol.decode(full).request
  const count = places(full).length
  const extras = fc.dictionary(
    fc.string().map((name) => `x_${name}`),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(fc.nat(count - 1), extras, (which, extra) => {
      const body = structuredClone(full)
      Object.assign(places(body)[which]!.holder, extra)
      deepEqual(protocol.decode(body).request, expected)
    }),
  )
})

test('keys that name the prototype are inert', () => {
  const text = JSON.stringify(full).replaceAll('{', '{"__proto__":{"polluted":1},"constructor":{"prototype":{}},')
  protocol.decode(JSON.parse(text))
  equal(({} as { polluted?: unknown }).polluted, undefined)
})

test('an object that cannot be made a string is refused like any other', () => {
  const odd = { toString: [], valueOf: 1 }
  for (const fields of [{ thinking: { type: odd } }, { tool_choice: { type: odd } }, { model: odd }]) {
    throws(
      () => protocol.decode({ ...full, ...fields }),
      (error) => error instanceof ApiError && error.reason.code === 'invalid-request',
    )
  }
})

test('any value in any place is accepted or refused by a path that leads there', () => {
  const count = places(full).length
  fc.assert(
    fc.property(fc.nat(count - 1), fc.nat(), fc.jsonValue(), fc.boolean(), (which, key, value, counts) => {
      const body = structuredClone(full)
      const { holder, path } = places(body)[which]!
      const field = Object.keys(holder)[key % Object.keys(holder).length]!
      holder[field] = value
      try {
        if (counts) protocol.count.decodeShaped(body)
        else protocol.decode(body)
      } catch (error) {
        ok(error instanceof ApiError && error.reason.code === 'invalid-request', String(error))
        const found = (error.reason.path ?? []).join('.')
        const top = [...path, field][0]
        // A changed name or id may only show where it is referred to.
        const isReference = ['tools', 'messages', 'tool_choice', 'thinking', 'output_config', 'max_tokens'].includes(
          String(top),
        )
        ok(isReference || found.startsWith(String(top)), `${found} for ${[...path, field].join('.')}`)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('wrong types deep in the request are refused by the full path', () => {
  const cases: [readonly (string | number)[], unknown, string][] = [
    [['system', 0, 'text'], 5, 'system.0.text'],
    [['system', 0, 'cache_control', 'ttl'], '2h', 'system.0.cache_control.ttl'],
    [['messages', 0, 'role'], 5, 'messages.0.role'],
    [['messages', 0, 'role'], 'narrator', 'messages.0.role'],
    [['messages', 0, 'content'], 5, 'messages.0.content'],
    [['messages', 0, 'content', 0], 5, 'messages.0.content.0'],
    [['messages', 0, 'content', 0, 'text'], null, 'messages.0.content.0.text'],
    [['messages', 0, 'content', 1, 'source', 'media_type'], 'image/bmp', 'messages.0.content.1.source.media_type'],
    [['messages', 0, 'content', 1, 'source'], 'x', 'messages.0.content.1.source'],
    [['messages', 1, 'content', 1, 'input'], '{}', 'messages.1.content.1.input'],
    [['messages', 1, 'content', 1, 'input'], [], 'messages.1.content.1.input'],
    [['messages', 1, 'content', 1, 'id'], '', 'messages.1.content.1.id'],
    [['messages', 3, 'content', 0, 'is_error'], 'no', 'messages.3.content.0.is_error'],
    [['messages', 3, 'content', 0, 'content', 0, 'text'], 5, 'messages.3.content.0.content.0.text'],
    [['tools', 0, 'description'], 5, 'tools.0.description'],
    [['thinking', 'budget_tokens'], '2048', 'thinking.budget_tokens'],
    [['output_config', 'format', 'schema'], 'x', 'output_config.format.schema'],
    [['tool_choice', 'disable_parallel_tool_use'], 1, 'tool_choice.disable_parallel_tool_use'],
  ]
  for (const [path, value, expected] of cases) {
    const body = structuredClone(full)
    const holder = path
      .slice(0, -1)
      .reduce<unknown>((inner, key) => (inner as Record<string | number, unknown>)[key], body)
    Object.assign(holder as object, { [path.at(-1)!]: value })
    const error = failure(body)
    equal(pathOf(error), expected, error.message)
    ok(error.message.startsWith(`${expected}: `), error.message)
  }
})
