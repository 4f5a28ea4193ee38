import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import fc from 'fast-check'
import { decodeChat as decode } from '../../../../test/harness/decode-chat.ts'
import { ApiError } from '../../../core/error.ts'
import { efforts } from '../../../core/generation.ts'

type Fields = Record<string, unknown>

function refusalOf(fields: Fields): readonly unknown[] {
  try {
    decode(fields)
  } catch (error) {
    assert.ok(error instanceof ApiError && error.reason.code === 'invalid-request')
    return [error.reason.path?.join('.'), error.reason.fault]
  }
  throw new Error(`accepted: ${JSON.stringify(fields)}`)
}

suite('sampling', () => {
  test('absent fields leave the choice to the model', () => {
    assert.deepEqual(decode({}).sampling, {
      temperature: null,
      topP: null,
      topK: null,
      minP: null,
      presencePenalty: 0,
      frequencyPenalty: 0,
      repetitionPenalty: 1,
      seed: null,
      logitBias: [],
    })
  })

  test('what no engine could compute with in single precision is taken for the nearest that it can', () => {
    const penaltyOf = (penalty: number) => decode({ repetition_penalty: penalty }).sampling.repetitionPenalty
    assert.deepEqual([1e-40, 0.5, 3, 1e300].map(penaltyOf), [0.01, 0.5, 3, 100])
    const { topP } = decode({ top_p: 1e-300 }).sampling
    assert.ok(topP !== null && Math.fround(topP) > 0)
  })

  test('sampling fields are decoded with their values', () => {
    const { sampling } = decode({
      temperature: 0,
      top_p: 0,
      top_k: -1,
      min_p: 0.1,
      presence_penalty: -2,
      frequency_penalty: 2,
      repeat_penalty: 1.2,
      logit_bias: { '50256': -100, '7': 1.5 },
    })
    assert.ok(sampling.topP !== null && sampling.topP > 0 && sampling.topP < 1e-6)
    assert.deepEqual(
      { ...sampling, topP: 0 },
      {
        temperature: 0,
        topP: 0,
        topK: 0,
        minP: 0.1,
        presencePenalty: -2,
        frequencyPenalty: 2,
        repetitionPenalty: 1.2,
        seed: null,
        logitBias: [
          [7, 1.5],
          [50256, -100],
        ],
      },
    )
    assert.equal(decode({ repetition_penalty: 1.1, repeat_penalty: 1.2 }).sampling.repetitionPenalty, 1.1)
    assert.deepEqual(refusalOf({ logit_bias: { hello: 1 } }), ['logit_bias.hello', 'value'])
  })

  test('a key that is named __proto__ is checked like any other', () => {
    assert.deepEqual(refusalOf({ logit_bias: JSON.parse('{"__proto__":1}') }), ['logit_bias.__proto__', 'value'])
    assert.deepEqual(refusalOf({ metadata: JSON.parse('{"__proto__":5}') }), ['metadata.__proto__', 'type'])
  })

  test('any whole seed becomes an unsigned 32-bit number, small ones unchanged', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }).map(Number)),
        (seed) => {
          const reduced = decode({ seed }).sampling.seed
          assert.ok(reduced !== null && Number.isInteger(reduced) && reduced >= 0 && reduced <= 0xffff_ffff)
          assert.equal(reduced, decode({ seed }).sampling.seed)
          if (seed >= 0 && seed <= 0xffff_ffff) assert.equal(reduced, seed)
        },
      ),
    )
    assert.notEqual(decode({ seed: 2 ** 62 }).sampling.seed, decode({ seed: 2 ** 61 }).sampling.seed)
    assert.deepEqual(refusalOf({ seed: 1.5 }), ['seed', 'type'])
    assert.equal(Object.is(decode({ seed: -0 }).sampling.seed, 0), true)
  })

  test('more tokens to choose among than any vocabulary has are as many as an engine can be told', () => {
    assert.equal(decode({ top_k: 2 ** 32 + 1 }).sampling.topK, 2 ** 31 - 1)
  })

  test('limits of output tokens are decoded', () => {
    assert.equal(decode({}).outputTokensMax, null)
    assert.equal(decode({ max_tokens: 9 }).outputTokensMax, 9)
    assert.equal(decode({ max_tokens: 9, max_completion_tokens: 5 }).outputTokensMax, 5)
    assert.equal(decode({ max_tokens: 2 ** 63 }).outputTokensMax, Number.MAX_SAFE_INTEGER)
    assert.equal(decode({ max_tokens: 9, min_tokens: 20 }).outputTokensMin, 9)
    assert.equal(decode({ min_tokens: 20 }).outputTokensMin, 20)
  })

  test('stop sequences are decoded', () => {
    assert.deepEqual(decode({}).stopSequences, [])
    assert.deepEqual(decode({ stop: 'a' }).stopSequences, ['a'])
    assert.deepEqual(decode({ stop: '' }).stopSequences, [])
    assert.deepEqual(decode({ stop: ['a', '', 'b'] }).stopSequences, ['a', 'b'])
    assert.equal(decode({ stop: Array.from({ length: 16 }, String) }).stopSequences.length, 16)
    assert.deepEqual(refusalOf({ stop: Array.from({ length: 17 }, String) }), ['stop', 'value'])
    assert.deepEqual(refusalOf({ stop: Array.from({ length: 190_000 }, String) }), ['stop', 'value'])
    assert.deepEqual(decode({ stop: 'a'.repeat(1_024) }).stopSequences, ['a'.repeat(1_024)])
    assert.deepEqual(refusalOf({ stop: 'a'.repeat(1_025) }), ['stop', 'value'])
    assert.deepEqual(refusalOf({ stop: ['a', 'a'.repeat(1_025)] }), ['stop.1', 'value'])
    assert.equal(decode({ include_stop_str_in_output: true }).includesStopSequence, true)
  })

  test('the request for log-probabilities is decoded', () => {
    assert.equal(decode({ logprobs: false }).logprobsTop, null)
    assert.equal(decode({ logprobs: true }).logprobsTop, 0)
    assert.equal(decode({ logprobs: true, top_logprobs: 20 }).logprobsTop, 20)
    assert.deepEqual(refusalOf({ top_logprobs: 0 }), ['top_logprobs', 'value'])
    assert.deepEqual(refusalOf({ logprobs: false, top_logprobs: 2 }), ['top_logprobs', 'value'])
  })

  test('the number of answers is decoded', () => {
    assert.equal(decode({}).choiceCount, 1)
    assert.equal(decode({ n: 8 }).choiceCount, 8)
    assert.deepEqual(refusalOf({ n: 0 }), ['n', 'value'])
  })
})

suite('thinking', () => {
  const off = { kind: 'off' }
  const on = (tokensMax: number | null) => ({ kind: 'on', tokensMax })
  const effort = (value: string) => ({ kind: 'effort', effort: value })
  const cases: readonly (readonly [Fields, unknown])[] = [
    [{}, { kind: 'default' }],
    ...efforts.map((value) => [{ reasoning_effort: value }, effort(value)] as const),
    [{ reasoning: { effort: 'max' } }, effort('max')],
    [{ reasoning: { max_tokens: 100 } }, on(100)],
    [{ reasoning: { max_tokens: 0 } }, off],
    [{ reasoning: { enabled: true } }, on(null)],
    [{ reasoning: { enabled: false, effort: 'high' } }, off],
    [{ reasoning: { exclude: true }, enable_thinking: false }, off],
    [{ reasoning: {} }, { kind: 'default' }],
    [{ thinking: { type: 'enabled', budget_tokens: 32000 } }, on(32000)],
    [{ thinking: { type: 'enabled' } }, on(null)],
    [{ thinking: { type: 'disabled' } }, off],
    [{ thinking: { type: 'adaptive' } }, effort('high')],
    [{ enable_thinking: true, thinking_budget: 50 }, on(50)],
    [{ enable_thinking: false, thinking_budget: 50 }, off],
    [{ thinking_budget: 50 }, on(50)],
    [{ chat_template_kwargs: { enable_thinking: false } }, off],
    [{ chat_template_kwargs: { thinking: true } }, on(null)],
    [{ chat_template_kwargs: { other: 1 } }, { kind: 'default' }],
    [{ thinking_budget_tokens: -1 }, on(null)],
    [{ thinking_budget_tokens: 0 }, off],
    [{ thinking_budget_tokens: 7 }, on(7)],
  ]
  for (const [fields, expected] of cases) {
    test(JSON.stringify(fields), () => assert.deepEqual(decode(fields).thinking, expected))
  }

  test('the first spelling present wins', () => {
    const spellings: readonly (readonly [Fields, unknown])[] = [
      [{ reasoning_effort: 'low' }, effort('low')],
      [{ reasoning: { max_tokens: 1 } }, on(1)],
      [{ thinking: { type: 'enabled', budget_tokens: 2 } }, on(2)],
      [{ enable_thinking: true, thinking_budget: 3 }, on(3)],
      [{ chat_template_kwargs: { enable_thinking: false } }, off],
      [{ thinking_budget_tokens: 5 }, on(5)],
    ]
    for (const [index, [, expected]] of spellings.entries()) {
      const fields: Fields = Object.assign({}, ...spellings.slice(index).map(([spelling]) => spelling))
      assert.deepEqual(decode(fields).thinking, expected)
    }
  })
})

suite('output format', () => {
  const schema = { type: 'object', properties: {} }
  const jsonSchema = (fields: Fields): Fields => ({
    response_format: { type: 'json_schema', json_schema: { name: 'n', ...fields } },
  })
  const asked = { kind: 'json', schema, schemaPath: ['response_format', 'json_schema', 'schema'] }
  const cases: readonly (readonly [Fields, unknown])[] = [
    [{}, { kind: 'text' }],
    [{ response_format: { type: 'text' }, guided_json: schema }, { kind: 'text' }],
    [
      { response_format: { type: 'json_object' } },
      { kind: 'json', schema: null, schemaPath: ['response_format', 'schema'], isStrict: true },
    ],
    [
      { response_format: { type: 'json_object', schema } },
      { kind: 'json', schema, schemaPath: ['response_format', 'schema'], isStrict: true },
    ],
    [jsonSchema({ schema, strict: true }), { ...asked, isStrict: true }],
    [jsonSchema({ schema, strict: false }), { ...asked, isStrict: false }],
    [jsonSchema({ schema, strict: null }), { ...asked, isStrict: false }],
    [jsonSchema({ schema }), { ...asked, isStrict: false }],
    [jsonSchema({}), { ...asked, schema: null, isStrict: false }],
    [{ guided_json: schema }, { kind: 'json', schema, schemaPath: ['guided_json'], isStrict: true }],
    [{ guided_json: JSON.stringify(schema) }, { kind: 'json', schema, schemaPath: ['guided_json'], isStrict: true }],
    [{ json_schema: schema }, { kind: 'json', schema, schemaPath: ['json_schema'], isStrict: true }],
  ]
  for (const [fields, expected] of cases) {
    test(JSON.stringify(fields), () => assert.deepEqual(decode(fields).output, expected))
  }

  test('an output format that cannot be kept is refused', () => {
    for (const type of ['grammar', 'structural_tag', 'x']) {
      assert.deepEqual(refusalOf({ response_format: { type } }), ['response_format.type', 'unsupported-value'])
    }
    assert.deepEqual(refusalOf({ response_format: { type: 'json_schema' } }), [
      'response_format.json_schema',
      'missing',
    ])
    assert.deepEqual(refusalOf({ guided_json: '{' }), ['guided_json', 'value'])
    assert.deepEqual(refusalOf({ guided_json: '[]' }), ['guided_json', 'value'])
  })
})

suite('refused fields', () => {
  test('fields that cannot be honoured are refused when they ask for something, and pass when neutral', () => {
    const asking: Fields = {
      ignore_eos: true,
      stop_token_ids: [1],
      allowed_token_ids: [1],
      bad_words: ['x'],
      chat_template: '{{ x }}',
      echo: true,
      documents: [{}],
      mm_processor_kwargs: { a: 1 },
      truncate_prompt_tokens: 5,
      prompt_logprobs: 1,
      return_token_ids: true,
      return_tokens_as_token_ids: true,
      kv_transfer_params: { a: 1 },
      vllm_xargs: { a: 1 },
      logits_processors: ['x'],
      use_beam_search: true,
      id_slot: 1,
      guided_regex: 'a',
      guided_choice: ['a'],
      guided_grammar: 'x',
      structured_outputs: { choice: ['a'] },
      grammar: 'root ::= "x"',
    }
    for (const [field, value] of Object.entries(asking)) {
      assert.deepEqual(refusalOf({ [field]: value }), [field, 'unsupported-field'])
      for (const neutral of [null, false, '', [], {}]) decode({ [field]: neutral })
    }
    decode({ id_slot: -1 })
  })

  test('search and moderation are refused even when empty', () => {
    assert.deepEqual(refusalOf({ web_search_options: {} }), ['web_search_options', 'unsupported-field'])
    assert.deepEqual(refusalOf({ moderation: {} }), ['moderation', 'unsupported-field'])
  })

  test('modalities other than text are refused', () => {
    decode({ modalities: [] })
    decode({ modalities: ['text'], audio: { voice: 'x', format: 'wav' } })
    assert.deepEqual(refusalOf({ modalities: ['text', 'audio'] }), ['modalities.1', 'unsupported-value'])
    assert.deepEqual(refusalOf({ modalities: ['smell'] }), ['modalities.0', 'value'])
  })

  test('fields of other servers without effect pass', () => {
    const plain = decode({})
    const ignored = {
      mirostat_tau: 5,
      dry_sequence_breakers: ['x'],
      priority: 1,
      request_id: 'r',
      cache_prompt: true,
      timings_per_token: true,
      reasoning_format: 'none',
      n_probs: 3,
      provider: { order: [] },
      models: ['a'],
      route: 'fallback',
      extra_body: { top_k: 1 },
    }
    assert.deepEqual(decode(ignored), plain)
  })
})
