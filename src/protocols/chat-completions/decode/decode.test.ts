import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { ApiError } from '../../../core/error.ts'
import { createChatCompletionsProtocol } from '../chat-completions-format.ts'
import { encodeError } from '../error.ts'

type Fields = Record<string, unknown>

const protocol = createChatCompletionsProtocol({ readFingerprint: () => 'fp_test' })

function minimal(fields: Fields = {}): Fields {
  return { model: 'clarke-1.0', messages: [{ role: 'user', content: 'Hi' }], ...fields }
}

function refusalOf(body: unknown): { param: unknown; code: unknown; type: unknown } {
  try {
    protocol.decode(body)
  } catch (error) {
    assert.ok(error instanceof ApiError, `not an ApiError: ${String(error)}`)
    const { status, body: encoded } = encodeError(error, 'req_1')
    assert.equal(status, 400)
    const { param, code, type } = (encoded as { error: Fields }).error as Fields
    return { param, code, type }
  }
  throw new Error(`accepted: ${JSON.stringify(body)?.slice(0, 300)}`)
}

const json = { type: 'object', properties: { b: { type: 'string' }, a: { type: 'string' } } }

/** Every optional top-level field with a value that passes. */
const optionalFields: Fields = {
  max_completion_tokens: 5,
  max_tokens: 5,
  temperature: 0.5,
  top_p: 0.5,
  presence_penalty: 0.5,
  frequency_penalty: 0.5,
  stop: ['a'],
  seed: 1,
  n: 2,
  logit_bias: { '5': 1 },
  logprobs: true,
  stream: true,
  stream_options: { include_usage: true, include_obfuscation: false },
  tools: [{ type: 'function', function: { name: 'f' } }],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  response_format: { type: 'json_object' },
  reasoning_effort: 'low',
  verbosity: 'low',
  prediction: { type: 'content', content: 'x' },
  modalities: ['text'],
  audio: { format: 'wav', voice: 'x' },
  store: false,
  metadata: { a: 'b' },
  service_tier: 'auto',
  prompt_cache_key: 'k',
  prompt_cache_options: { mode: 'implicit' },
  prompt_cache_retention: '24h',
  safety_identifier: 's',
  user: 'u',
  reasoning: { effort: 'low' },
  thinking: { type: 'enabled', budget_tokens: 5 },
  enable_thinking: true,
  thinking_budget: 5,
  chat_template_kwargs: { enable_thinking: false, other: 1 },
  thinking_budget_tokens: -1,
  include_reasoning: true,
  top_k: 5,
  min_p: 0.1,
  repetition_penalty: 1.1,
  repeat_penalty: 1.1,
  min_tokens: 1,
  include_stop_str_in_output: true,
  guided_json: json,
  json_schema: json,
  usage: { include: true },
  typical_p: 1,
  top_n_sigma: 1,
  mirostat: 0,
  dry_multiplier: 0.8,
  xtc_probability: 0.1,
  length_penalty: 1,
  skip_special_tokens: true,
  cache_salt: 'x',
  extra_body: {},
}

const nullableOnly = [
  'top_logprobs',
  'functions',
  'function_call',
  'add_generation_prompt',
  'continue_final_message',
  'web_search_options',
  'moderation',
  'ignore_eos',
  'stop_token_ids',
  'allowed_token_ids',
  'bad_words',
  'chat_template',
  'echo',
  'structured_outputs',
  'grammar',
  'id_slot',
]

suite('null and unknown fields', () => {
  test('every optional field takes a value and null, and null equals absence', () => {
    const plain = protocol.decode(minimal()).request
    for (const [field, value] of Object.entries(optionalFields)) {
      protocol.decode(minimal({ [field]: value }))
      assert.deepEqual(protocol.decode(minimal({ [field]: null })).request, plain, field)
    }
    for (const field of nullableOnly)
      assert.deepEqual(protocol.decode(minimal({ [field]: null })).request, plain, field)
    protocol.decode(minimal(optionalFields))
  })

  test('null passes in every optional nested field', () => {
    protocol.decode(
      minimal({
        stream_options: { include_usage: null, include_obfuscation: null },
        tools: [
          {
            type: 'function',
            function: { name: 'f', description: null, parameters: null, strict: null },
            custom: null,
          },
          { type: 'custom', custom: { name: 'c', description: null, format: null } },
        ],
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', description: null, schema: null, strict: null },
        },
        reasoning: { effort: null, max_tokens: null, enabled: null, exclude: null },
        chat_template_kwargs: { enable_thinking: null, thinking: null },
        messages: [
          { role: 'system', content: 'S', name: null },
          { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: null }], name: null },
          {
            role: 'assistant',
            content: null,
            refusal: null,
            audio: null,
            function_call: null,
            annotations: null,
            reasoning: null,
            reasoning_content: null,
            tool_calls: [{ id: 'a', type: null, function: { name: 'f', arguments: null } }],
          },
          { role: 'tool', tool_call_id: 'a', content: 'R', name: null },
          { role: 'assistant', content: 'Done', tool_calls: null },
          { role: 'user', content: 'Next' },
        ],
      }),
    )
  })

  test('unknown fields at any level have no effect', () => {
    fc.assert(
      fc.property(
        fc.string().map((name) => `x-${name}`),
        fc.jsonValue(),
        (name, value) => {
          const extra = { [name]: value }
          const body = (added: Fields) =>
            minimal({
              messages: [
                { role: 'user', content: [{ type: 'text', text: 'Hi', ...added }], ...added },
                { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', ...added }, ...added }], ...added },
              ],
              tools: [{ type: 'function', function: { name: 'f', ...added }, ...added }],
              tool_choice: { type: 'function', function: { name: 'f', ...added }, ...added },
              response_format: { type: 'json_object', ...added },
              reasoning: { effort: 'low', ...added },
              stream_options: { include_usage: true, ...added },
              ...added,
            })
          assert.deepEqual(protocol.decode(body(extra)).request, protocol.decode(body({})).request)
        },
      ),
    )
  })

  test('inherited names in a body are inert', () => {
    const body: unknown = JSON.parse(
      '{"model":"m","messages":[{"role":"user","content":"Hi","__proto__":{"x":1}}],"__proto__":{"stream":true},"constructor":1}',
    )
    assert.equal(protocol.decode(body).isStream, false)
  })
})

suite('wrong types', () => {
  const wrongFor: Record<string, unknown> = { string: 5, number: 'x', boolean: 'x', object: 5 }

  test('a wrong type is refused with the name of its field', () => {
    for (const [field, value] of Object.entries(optionalFields)) {
      const refusal = refusalOf(minimal({ [field]: wrongFor[typeof value] }))
      assert.deepEqual(refusal, { param: field, code: 'invalid_type', type: 'invalid_request_error' }, field)
    }
  })

  const nested: readonly (readonly [Fields, string, string])[] = [
    [{ model: undefined }, 'model', 'missing_required_parameter'],
    [{ model: 5 }, 'model', 'invalid_type'],
    [{ model: null }, 'model', 'invalid_type'],
    [{ messages: undefined }, 'messages', 'missing_required_parameter'],
    [{ messages: 'x' }, 'messages', 'invalid_type'],
    [{ messages: [] }, 'messages', 'invalid_value'],
    [{ messages: ['x'] }, 'messages[0]', 'invalid_type'],
    [{ messages: [{ content: 'x' }] }, 'messages[0].role', 'missing_required_parameter'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages[0].role', 'invalid_value'],
    [{ messages: [{ role: 5, content: 'x' }] }, 'messages[0].role', 'invalid_type'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content', 'missing_required_parameter'],
    [{ messages: [{ role: 'user', content: 5 }] }, 'messages[0].content', 'invalid_type'],
    [{ messages: [{ role: 'user', content: [5] }] }, 'messages[0].content[0]', 'invalid_type'],
    [{ messages: [{ role: 'user', content: [{ type: 'x' }] }] }, 'messages[0].content[0].type', 'invalid_value'],
    [
      { messages: [{ role: 'user', content: [{ type: 'text' }] }] },
      'messages[0].content[0].text',
      'missing_required_parameter',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'text', text: 5 }] }] },
      'messages[0].content[0].text',
      'invalid_type',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: 'x' }] }] },
      'messages[0].content[0].image_url',
      'invalid_type',
    ],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id', 'missing_required_parameter'],
    [{ stop: ['a', 5] }, 'stop[1]', 'invalid_type'],
    [{ max_tokens: 1.5 }, 'max_tokens', 'invalid_type'],
    [{ stream_options: { include_usage: 5 } }, 'stream_options.include_usage', 'invalid_type'],
    [{ tools: [{ function: { name: 'f' } }] }, 'tools[0].type', 'missing_required_parameter'],
    [{ tools: [{ type: 'function', function: { name: 5 } }] }, 'tools[0].function.name', 'invalid_type'],
    [{ tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools[0].function.name', 'invalid_value'],
    [
      { tools: [{ type: 'function', function: { name: 'f', parameters: [] } }] },
      'tools[0].function.parameters',
      'invalid_type',
    ],
    [{ logit_bias: { '5': 'x' } }, 'logit_bias.5', 'invalid_type'],
    [{ logit_bias: { '5': 101 } }, 'logit_bias.5', 'invalid_value'],
    [{ metadata: { a: 5 } }, 'metadata.a', 'invalid_type'],
    [{ modalities: [5] }, 'modalities[0]', 'invalid_type'],
    [{ reasoning: { effort: 'huge' } }, 'reasoning.effort', 'invalid_value'],
    [{ thinking: { type: 'huge' } }, 'thinking.type', 'invalid_value'],
    [
      { response_format: { type: 'json_schema', json_schema: {} } },
      'response_format.json_schema.name',
      'missing_required_parameter',
    ],
  ]
  for (const [fields, param, code] of nested) {
    test(`${param} ${code}: ${JSON.stringify(fields)}`, () => {
      assert.deepEqual(refusalOf(minimal(fields)), { param, code, type: 'invalid_request_error' })
    })
  }

  test('a field that may be one of several types is told with what it may be', () => {
    const either = 'expected a string or an object.'
    const cases: readonly (readonly [Fields, string])[] = [
      [
        { messages: [{ role: 'user', content: null }] },
        "Invalid type for 'messages[0].content': expected a string or an array of content parts.",
      ],
      [
        { messages: [{ role: 'assistant', content: 5 }] },
        "Invalid type for 'messages[0].content': expected a string or an array of content parts.",
      ],
      [{ stop: 5 }, "Invalid type for 'stop': expected a string or an array of strings."],
      [{ guided_json: [] }, `Invalid type for 'guided_json': ${either}`],
      [{ tool_choice: 5 }, `Invalid type for 'tool_choice': ${either}`],
      [{ function_call: true }, `Invalid type for 'function_call': ${either}`],
    ]
    for (const [fields, message] of cases) {
      assert.throws(() => protocol.decode(minimal(fields)), { message })
    }
  })

  const outOfRange: Fields = {
    max_tokens: 0,
    max_completion_tokens: -1,
    temperature: 2.1,
    top_p: 1.1,
    presence_penalty: -2.1,
    frequency_penalty: 2.1,
    n: 9,
    top_logprobs: 21,
    top_k: -2,
    min_p: 1.1,
    repetition_penalty: 0,
    min_tokens: -1,
    reasoning_effort: 'huge',
    tool_choice: 'any',
    function_call: 'any',
    thinking_budget: -2,
    metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v'])),
  }
  for (const [field, value] of Object.entries(outOfRange)) {
    test(`${field} out of its range is refused`, () => {
      assert.deepEqual(refusalOf(minimal({ [field]: value })), {
        param: field,
        code: 'invalid_value',
        type: 'invalid_request_error',
      })
    })
  }

  test('a body that is no object has no param', () => {
    for (const body of [null, 5, 'x', [], undefined]) assert.equal(refusalOf(body).param, null)
  })

  test('no body throws anything but an ApiError', () => {
    const anywhere = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.jsonValue(),
        tie('message'),
        fc.array(tie('message'), { maxLength: 3 }),
      ),
      message: fc.record(
        {
          role: fc.constantFrom('system', 'user', 'assistant', 'tool', 'function', 'developer', 'x'),
          content: fc.oneof(fc.string(), fc.jsonValue(), fc.array(tie('part'), { maxLength: 3 })),
          tool_calls: fc.oneof(fc.jsonValue(), fc.array(fc.record({ id: fc.string(), function: fc.jsonValue() }))),
          function_call: fc.jsonValue(),
          tool_call_id: fc.oneof(fc.string(), fc.jsonValue()),
        },
        { requiredKeys: ['role'] },
      ),
      part: fc.record({
        type: fc.constantFrom('text', 'image_url', 'input_audio', 'file', 'refusal', 'x'),
        text: fc.oneof(fc.string(), fc.jsonValue()),
        image_url: fc.oneof(fc.record({ url: fc.string() }), fc.jsonValue()),
        file: fc.oneof(fc.record({ file_data: fc.string() }), fc.jsonValue()),
      }),
    }))
    const fields = [...Object.keys(optionalFields), ...nullableOnly, 'messages', 'model']
    const bodies = fc.tuple(
      fc.dictionary(fc.constantFrom(...fields), anywhere['value'] ?? fc.jsonValue(), { maxKeys: 3 }),
      fc.array(anywhere['message'] ?? fc.jsonValue(), { maxLength: 4 }),
    )
    fc.assert(
      fc.property(bodies, ([changes, messages]) => {
        try {
          protocol.decode({ model: 'm', messages, ...changes })
        } catch (error) {
          assert.ok(error instanceof ApiError, String(error))
          assert.equal(error.code, 'invalid-request')
        }
      }),
      { numRuns: 1000 },
    )
  })
})

suite('recorded clients', () => {
  const folder = join(import.meta.dirname, '../../../../../shared/clients')
  const isThere = existsSync(folder)
  test('every recorded body decodes', { skip: isThere ? false : 'the recordings are not here' }, () => {
    let count = 0
    for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!/chat_completions.*\.json$/.test(path)) continue
      const { body } = JSON.parse(readFileSync(join(folder, path), 'utf8')) as { body: Fields }
      const { request, isStream } = protocol.decode(body)
      assert.equal(request.model, body['model'], path)
      assert.equal(isStream, body['stream'] ?? false, path)
      count += 1
    }
    assert.ok(count > 0)
  })
})

test('the same body decodes to the same request', () => {
  assert.deepEqual(protocol.decode(minimal(optionalFields)).request, protocol.decode(minimal(optionalFields)).request)
})

test('the key order of schemas is kept', () => {
  const { request } = protocol.decode(
    minimal({ tools: [{ type: 'function', function: { parameters: json, name: 'f' } }] }),
  )
  assert.equal(JSON.stringify(request.tools[0]?.parameters), JSON.stringify(json))
})
