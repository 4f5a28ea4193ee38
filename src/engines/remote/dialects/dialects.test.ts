import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { test } from 'node:test'
import {
  readRecording,
  readSteps,
  recordedReader,
  requestOf,
  type Recording,
} from '../../../../test/harness/engines/recorded-answers.ts'
import { TableReader } from '../../text/model-text.ts'
import { EventSplitter } from '../record-splitters.ts'
import { ReplicaFault, type ReplicaFacts, type TokenStep } from '../dialect.ts'
import { vllm } from './vllm.ts'

const streams = [
  ['llama-server', 'completion-grammar-stream'],
  ['vllm', 'generate-tokens-stream'],
  ['vllm', 'generate-grammar-stream'],
  ['sglang', 'generate-stream'],
  ['sglang', 'generate-grammar-stream'],
] as const

const reader = recordedReader()
const read = (recording: Recording, body = recording.body, pieceBytes = body.length) => [
  ...readSteps(recording.dialect, requestOf(recording), body, { reader, pieceBytes }),
]
const idsOf = (steps: readonly TokenStep[]) => steps.flatMap(({ ids }) => ids)
const endsOf = (steps: readonly TokenStep[]) => steps.flatMap(({ end }) => end?.kind ?? [])

test('each recorded stream is read to its tokens, its counts and its one end', () => {
  const sentence = [504, 3575, 282, 4649, 314, 7042, 30, 2]
  const city = [107, 18, 83, 269, 105, 18, 42, 476, 38634, 18, 109, 2]
  const expected: Readonly<Record<string, readonly number[]>> = {
    'llama-server completion-grammar-stream': city,
    'vllm generate-tokens-stream': sentence,
    'vllm generate-grammar-stream': [504, 3575, 282, 4649, 314, 7042, 28, 4649, 30, 2],
    'sglang generate-stream': sentence,
    'sglang generate-grammar-stream': [107, 18, 83, 269, 105, 18, 42, 476, 504, 3575, 282, 260, 216, 53, 18, 109, 2],
  }
  for (const [kind, name] of streams) {
    const steps = read(readRecording(kind, name))
    const label = `${kind} ${name}`
    deepEqual(idsOf(steps), expected[label], label)
    deepEqual(endsOf(steps), ['stop'], label)
    equal(steps.findLast(({ promptTokens }) => promptTokens !== undefined)?.promptTokens, 27, label)
    ok(
      steps.some(({ cachedTokens }) => cachedTokens !== undefined),
      label,
    )
  }
})

test('how a stream is cut into pieces changes nothing of what is read', () => {
  for (const [kind, name] of streams) {
    const recording = readRecording(kind, name)
    const whole = read(recording)
    for (const pieceBytes of [1, 7, 1_000]) deepEqual(read(recording, recording.body, pieceBytes), whole, kind)
  }
})

test('a stream that breaks off at any byte has no end', () => {
  for (const [kind, name] of streams) {
    const recording = readRecording(kind, name)
    // What comes behind the engine's own last record is no part of the answer.
    const done = recording.body.indexOf('data: [DONE]')
    const needed = done === -1 ? recording.body.length : done
    for (let length = 0; length < needed; length++) {
      const attempt = () => read(recording, recording.body.subarray(0, length))
      throws(attempt, ReplicaFault, `${kind} ${name}, ${length} of ${needed} bytes`)
    }
    equal(endsOf(read(recording, recording.body.subarray(0, needed))).length, 1)
  }
})

test('log-probabilities are those of the tokens they come with', () => {
  for (const [kind, name] of [
    ['vllm', 'generate-tokens-stream'],
    ['sglang', 'generate-stream'],
  ] as const) {
    const recording = readRecording(kind, name)
    const [first] = [...readSteps(recording.dialect, requestOf(recording, 2), recording.body)].filter(
      ({ ids }) => ids.length > 0,
    )
    equal(first?.logprobs?.length, 1)
    ok(Math.abs((first?.logprobs?.[0]?.logprob ?? 0) + 0.64) < 0.02, kind)
    deepEqual(
      first?.logprobs?.[0]?.top.map(({ id }) => id),
      [504, 15319],
    )
  }
})

test('what cannot be chosen has a log-probability without an end, which JSON has no number for', () => {
  const [sglangTop, vllmTop] = [
    [
      [-0.5, 504, null],
      [null, 3575, null],
    ],
    [
      { token_id: 504, logprob: -0.5 },
      { token_id: 3575, logprob: null },
    ],
  ]
  const counts = { prompt_tokens: 3, completion_tokens: 1, cached_tokens: 0 }
  const probabilities = { output_token_logprobs: [sglangTop[0]], output_top_logprobs: [sglangTop] }
  const about = { ...counts, finish_reason: { type: 'length' }, ...probabilities }
  const content = [{ ...vllmTop[0], top_logprobs: vllmTop }]
  const sglangRecording = { ...readRecording('sglang', 'generate-stream'), sent: { input_ids: [1, 2, 3] } }
  for (const [recording, body] of [
    [sglangRecording, line({ output_ids: [504], meta_info: about })],
    [
      vllmRecording,
      line({ choices: [{ index: 0, token_ids: [504], finish_reason: 'length', logprobs: { content } }] }) + usage(1),
    ],
  ] as const) {
    const steps = [...readSteps(recording.dialect, requestOf(recording, 2), Buffer.from(body))]
    deepEqual(
      steps[0]?.logprobs?.[0]?.top.map(({ logprob }) => logprob),
      [-0.5, -Infinity],
      recording.kind,
    )
  }
})

test('what an engine sends while it computes a prompt is no token of the answer', () => {
  const recording = readRecording('llama-server', 'completion-tokens-stream')
  const upToFirst = recording.body.toString().split('\n\n').slice(0, 3).join('\n\n')
  const steps: TokenStep[] = []
  throws(() => {
    for (const step of readSteps(recording.dialect, requestOf(recording), Buffer.from(`${upToFirst}\n\n`)))
      steps.push(step)
  }, ReplicaFault)
  deepEqual([idsOf(steps), steps[0]?.cachedTokens], [[504], 26])
})

const line = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const serverRecord = (ids: number[], text: string, predicted: number) =>
  line({ index: 0, content: text, tokens: ids, stop: false, tokens_predicted: predicted, tokens_evaluated: 3 })
const serverEnd = (predicted: number, changes: object = {}) =>
  line({
    index: 0,
    content: '',
    tokens: [],
    stop: true,
    tokens_predicted: predicted,
    tokens_evaluated: 3,
    stop_type: 'eos',
    timings: { cache_n: 0 },
    ...changes,
  })
const llama = { ...readRecording('llama-server', 'completion-grammar-stream'), sent: { prompt: [1, 2, 3] } }
const readServer = (text: string) => read(llama, Buffer.from(text))

/** A vocabulary of tokens with these bytes and no others. */
function vocabularyOf(...tokens: readonly (readonly number[])[]): TableReader {
  const ends = Uint32Array.from(tokens, (_, at) => tokens.slice(0, at + 1).flat().length)
  const tokenBytesMax = Math.max(...tokens.map((bytes) => bytes.length))
  return new TableReader({ bytes: Uint8Array.from(tokens.flat()), ends, endTokens: [], specials: [], tokenBytesMax })
}
const readServerWith = (own: TableReader, text: string) => [
  ...readSteps(llama.dialect, requestOf(llama), Buffer.from(text), { reader: own }),
]

test('a llama-server that counts other tokens than it was given or has sent is found out', () => {
  const good = serverRecord([504], 'The', 1) + serverRecord([2], '', 2)
  equal(endsOf(readServer(good + serverEnd(2))).length, 1)
  for (const [what, bad] of [
    ['more of the answer', good + serverEnd(3)],
    ['less of the answer', good + serverEnd(1)],
    ['another prompt', good + serverEnd(2, { tokens_evaluated: 4 })],
    ['more cached than there is', good + serverEnd(2, { timings: { cache_n: 4 } })],
    ['a negative count', good + serverEnd(2, { timings: { cache_n: -1 } })],
    ['a record twice', serverRecord([504], 'The', 1) + good + serverEnd(2)],
    ['no counts', good + serverEnd(2, { tokens_predicted: undefined })],
    ['a token beyond the vocabulary', serverRecord([49_152], '', 1) + serverEnd(1)],
    ['an end for a text that was not asked for', good + serverEnd(2, { stop_type: 'word' })],
    ['an error in the midst', good + line({ error: { code: 500, message: 'x' } }) + serverEnd(2)],
    ['another kind of record', good + line({ choices: [] }) + serverEnd(2)],
  ] as const)
    throws(() => readServer(bad), ReplicaFault, what)
})

test('tokens that a llama-server leaves out of a character in several parts are found by their bytes', () => {
  const own = vocabularyOf([0xf0, 0x9f, 0x98], [0x80])
  const body = serverRecord([1], '😀', 2) + serverEnd(2, { stop_type: 'limit' })
  deepEqual(idsOf(readServerWith(own, body)), [0, 1])
})

test('an answer of a llama-server whose left out tokens were other ones than those of their bytes has its end', () => {
  const own = vocabularyOf([0xf0, 0x9f, 0x98], [0x80], [0xf0], [0x9f], [0x98])
  const readOwn = (body: string) => readServerWith(own, body)
  // Three tokens of a byte each and the last one, where one of three bytes stands for the same.
  const character = serverRecord([1], '😀', 4)
  const end = serverEnd(4, { stop_type: 'limit' })
  const steps = readOwn(character + end)
  deepEqual([idsOf(steps), steps.at(-1)?.end], [[0, 1], { kind: 'limit', unknownTokens: 2 }])
  deepEqual(readOwn(serverRecord([1], '😀', 2) + serverEnd(2)).at(-1)?.end, { kind: 'stop' })
  for (const [what, bad] of [
    ['the character three times', character + character + character + end],
    ['less than there was', character + serverEnd(1)],
  ] as const)
    throws(() => readOwn(bad), { kind: 'lied' }, what)
  throws(
    () => readOwn(serverRecord([1], '😀', 4) + serverEnd(5)),
    { kind: 'unfit' },
    'more than the character has bytes',
  )
})

test('of several ways to make the bytes that a llama-server left out, the one of the fewest tokens is taken', () => {
  // The longest one first would be f0 9f, 98, 80 and f0: two more than were made.
  const own = vocabularyOf([0xf0], [0x9f, 0x98, 0x80, 0xf0], [0xf0, 0x9f], [0x98], [0x80], [0x9f, 0x98, 0x81])
  deepEqual(idsOf(readServerWith(own, serverRecord([5], '😀😁', 3) + serverEnd(3))), [0, 1, 5])
})

test('bytes that are no text, which a llama-server sends as another character, are the tokens that were made', () => {
  const own = vocabularyOf([0xbd], [0x61], [0xe2], [0xef], [0xbf])
  const alone = serverRecord([0], '\ufffd', 1) + serverRecord([1], 'a', 2) + serverRecord([0], '\ufffd', 3)
  deepEqual(idsOf(readServerWith(own, alone + serverEnd(3))), [0, 1, 0])
  // The first byte of a character that never became one, and was held back until that was known.
  const steps = readServerWith(own, serverRecord([1], '\ufffda', 2) + serverEnd(2))
  deepEqual([idsOf(steps).length, steps.at(-1)?.end], [2, { kind: 'stop' }])
})

test('an answer of a llama-server whose limit falls within a character has its end', () => {
  const good = serverRecord([504], 'The', 1)
  const limit = { stop_type: 'limit' }
  deepEqual(readServer(good + serverEnd(4, limit)).at(-1)?.end, { kind: 'limit', unknownTokens: 3 })
  throws(() => readServer(good + serverEnd(5, limit)), { kind: 'unfit' }, 'no character has so many parts')
})

const vllmRecording = { ...readRecording('vllm', 'generate-tokens-stream'), sent: { token_ids: [1, 2, 3] } }
const choice = (ids: number[], reason: string | null) =>
  line({ usage: null, choices: [{ index: 0, token_ids: ids, finish_reason: reason, logprobs: null }] })
const usage = (output: number, changes: object = {}) =>
  line({ choices: [], usage: { prompt_tokens: 3, completion_tokens: output, total_tokens: 3 + output, ...changes } })
const done = 'data: [DONE]\n\n'

test('a vLLM that was stopped, aborted or doubled its answer has not ended it', () => {
  const readVllm = (text: string) => read(vllmRecording, Buffer.from(text))
  equal(endsOf(readVllm(choice([504], null) + choice([2], 'stop') + usage(2) + done)).length, 1)
  for (const [what, bad] of [
    ['an error and then the end mark', choice([504], null) + line({ error: { message: 'x' } }) + done],
    ['the end mark alone', choice([504], null) + done],
    ['an abort with usage', choice([504], null) + choice([], 'abort') + usage(1) + done],
    ['no usage', choice([504], 'stop') + done],
    ['usage without a reason', choice([504], null) + usage(1) + done],
    ['a record twice', choice([504], null) + choice([504], null) + choice([2], 'stop') + usage(2) + done],
    ['tokens behind the end', choice([504], 'stop') + choice([504], null) + usage(2) + done],
    ['another prompt', choice([504], 'stop') + usage(1, { prompt_tokens: 2 }) + done],
    [
      'text instead of tokens',
      line({ choices: [{ index: 0, text: 'The', token_ids: null, finish_reason: null }] }) + done,
    ],
  ] as const)
    throws(() => readVllm(bad), ReplicaFault, what)
})

test('a vLLM that was asked to end an answer ends it, and says then how much of the prompt it had', () => {
  const asked = (records: string) => {
    const read = vllmRecording.dialect.createReader(requestOf(vllmRecording), reader)
    read.stopped?.()
    const steps = new EventSplitter().push(Buffer.from(records)).map((record) => read.read(record))
    read.end()
    return steps.at(-2)
  }
  const counted = usage(1, { prompt_tokens_details: { cached_tokens: 2 } })
  for (const end of [choice([], 'abort'), choice([], 'stop')])
    equal(asked(choice([504], null) + end + counted + done)?.cachedTokens, 2)
  throws(() => asked(choice([504], null) + done), ReplicaFault)
  throws(() => asked(choice([504], null) + choice([], 'abort') + usage(1, { prompt_tokens: 2 }) + done), ReplicaFault)
})

test('an SGLang that sends its tokens anew each time, or only the new ones, gives each of them once', () => {
  const sglangRecording = { ...readRecording('sglang', 'generate-stream'), sent: { input_ids: [1, 2, 3] } }
  const record = (ids: number[], counted: number, reason: string | null) =>
    line({
      output_ids: ids,
      meta_info: {
        prompt_tokens: 3,
        completion_tokens: counted,
        cached_tokens: 0,
        finish_reason: reason === null ? null : { type: reason },
      },
    })
  const readSglang = (text: string) => read(sglangRecording, Buffer.from(text))
  const whole = record([504], 1, null) + record([504, 3575], 2, null) + record([504, 3575, 2], 3, 'stop') + done
  const parts = record([504], 1, null) + record([3575], 2, null) + record([2], 3, 'stop') + done
  for (const text of [whole, parts, record([504], 1, null) + whole]) deepEqual(idsOf(readSglang(text)), [504, 3575, 2])
  for (const [what, bad] of [
    ['an abort', record([504], 1, 'abort') + done],
    ['fewer than before', record([504, 3575], 2, null) + record([504], 1, 'stop') + done],
    ['a count that fits neither', record([504], 1, null) + record([504], 5, 'stop') + done],
  ] as const)
    throws(() => readSglang(bad), ReplicaFault, what)
})

test('an SGLang that repeats all with each token gives what one gives that does not', () => {
  const recording = readRecording('sglang', 'generate-stream')
  const whole = recording.body.toString()
  // As it sends them with `--incremental-streaming-output`.
  const incremental = (tellsOfAll: boolean) => {
    let before = 0
    return whole.replaceAll(/^data: \{.*$/gm, (text) => {
      const record = JSON.parse(text.slice('data: '.length)) as Record<string, unknown[]> & {
        meta_info: Record<string, unknown[]>
      }
      const about = record.meta_info
      const { length } = record['output_ids'] ?? []
      for (const name of ['output_token_logprobs', 'output_top_logprobs'])
        about[name] = about[name]?.slice(tellsOfAll ? 0 : before) ?? []
      const part = { ...record, output_ids: record['output_ids']?.slice(before), meta_info: about }
      before = length
      return `data: ${JSON.stringify(part)}`
    })
  }
  const readBoth = (text: string) => [...readSteps(recording.dialect, requestOf(recording, 2), Buffer.from(text))]
  const steps = readBoth(whole)
  deepEqual(readBoth(incremental(false)), steps)
  // Older versions repeated the probabilities all the same.
  deepEqual(readBoth(incremental(true)), steps)
  equal(steps.flatMap(({ logprobs }) => logprobs ?? []).length, 8)
  // What is nowhere parsed is not looked at either: that each record is read from where the one before it ended.
  const [first = '', second = '', third = '', ...others] = whole.split('\n\n')
  const broken = third.replace('"text":"The capital of"', '"text":"The \\capital of"')
  deepEqual(readBoth([first, second, broken, ...others].join('\n\n')), steps)
})

test('an engine that finds a request at fault once its stream has begun is not at fault itself', () => {
  const abort = { type: 'abort', message: 'Invalid grammar', status_code: 400 }
  const about = { id: 'a', prompt_tokens: 1, completion_tokens: 0, cached_tokens: 0 }
  for (const [kind, name, record, expected] of [
    ['vllm', 'generate-grammar-stream', { error: { message: 'Grammar error', code: 400 } }, 'rejected'],
    ['vllm', 'generate-grammar-stream', { error: { message: 'EngineCore', code: 500 } }, 'status'],
    ['vllm', 'generate-grammar-stream', { error: 'x' }, 'malformed'],
    ['sglang', 'generate-grammar-stream', { error: { message: 'Grammar error', code: 400 } }, 'rejected'],
    [
      'sglang',
      'generate-grammar-stream',
      { output_ids: [], meta_info: { ...about, finish_reason: abort } },
      'rejected',
    ],
    [
      'sglang',
      'generate-grammar-stream',
      { output_ids: [], meta_info: { ...about, finish_reason: { ...abort, status_code: 503 } } },
      'overloaded',
    ],
    ['llama-server', 'completion-grammar-stream', { error: { code: 400, message: 'm' } }, 'rejected'],
    ['llama-server', 'completion-grammar-stream', { error: { code: 503, message: 'm' } }, 'overloaded'],
  ] as const) {
    const recording = readRecording(kind, name)
    const body = Buffer.from(`data: ${JSON.stringify(record)}\n\n`)
    throws(() => read(recording, body), { kind: expected }, `${kind} ${JSON.stringify(record)}`)
  }
})

test('a vLLM without its flags is found to lack both, and is asked to end nothing', async () => {
  const answers: Readonly<Record<string, unknown>> = {
    '/v1/models': { data: [{ id: 'm', max_model_len: 64 }] },
    '/version': { version: '0.32.0' },
    '/v1/completions': { choices: [{ index: 0, text: 'a' }], usage: { prompt_tokens: 1, completion_tokens: 1 } },
  }
  const facts = await vllm.probe(({ path }) => {
    const answer = answers[path]
    return answer === undefined ? Promise.reject(new ReplicaFault('denied', '404')) : Promise.resolve(answer)
  })
  deepEqual(facts.missing, ['--enable-scale-out', '--enable-prompt-tokens-details'])
  equal(vllm.abort?.('any', facts), null)
})

test('an engine that ends for a token which it was told of may send that token or not', () => {
  const record = (ids: number[], reason: string | null) =>
    line({
      output_ids: ids,
      meta_info: {
        prompt_tokens: 3,
        completion_tokens: ids.length,
        cached_tokens: 0,
        finish_reason: reason === null ? null : { type: reason, matched: 2 },
      },
    })
  const sglangRecording = { ...readRecording('sglang', 'generate-stream'), sent: { input_ids: [1, 2, 3] } }
  for (const ids of [[504, 2], [504]]) {
    const steps = read(
      vllmRecording,
      Buffer.from(choice([504], null) + choice(ids.slice(1), 'stop') + usage(ids.length)),
    )
    deepEqual([idsOf(steps), endsOf(steps)], [ids, ['stop']])
    const others = read(sglangRecording, Buffer.from(record([504], null) + record(ids, 'stop')))
    deepEqual([idsOf(others), endsOf(others)], [ids, ['stop']])
  }
})

const facts = (kind: ReplicaFacts['kind'], route: string): ReplicaFacts => ({
  kind,
  modelName: 'smol',
  version: null,
  windowTokens: 4_096,
  slots: 2,
  heldTokensMax: null,
  route,
  missing: [],
})

test('a request has the fields of the recorded ones, and every field of sampling', () => {
  const fields = (value: unknown) => Object.keys(value as object)
  const server = requestOf(readRecording('llama-server', 'completion-grammar-stream'))
  const sent = llama.dialect.toRequest({ ...server, grammar: 'root ::= "a"' }, facts('llama-server', '/completion'))
  for (const name of fields(readRecording('llama-server', 'completion-grammar-stream').sent))
    ok(fields(sent.body).includes(name), name)
  for (const name of [
    'top_k',
    'top_p',
    'min_p',
    'repeat_penalty',
    'presence_penalty',
    'frequency_penalty',
    'ignore_eos',
  ])
    ok(fields(sent.body).includes(name), name)
  const ours = vllmRecording.dialect.toRequest(server, facts('vllm', '/inference/v1/generate'))
  for (const name of fields(readRecording('vllm', 'generate-tokens-stream').sent))
    ok(fields(ours.body).includes(name), name)
  const other = readRecording('sglang', 'generate-stream')
  const generated = other.dialect.toRequest(server, facts('sglang', '/generate'))
  for (const name of fields(other.sent)) ok(fields(generated.body).includes(name), name)
})

test('an engine that ends an answer for tokens it is told of is told of all that end one', () => {
  const request = requestOf(readRecording('vllm', 'generate-tokens-stream'))
  const bodyOf = (kind: 'vllm' | 'sglang', route: string) => {
    const { dialect } = readRecording(kind, 'generate-grammar-stream')
    return dialect.toRequest({ ...request, endTokens: [2, 0] }, facts(kind, route)).body as Record<string, unknown>
  }
  const paramsOf = (body: Record<string, unknown>) => body['sampling_params'] as Record<string, unknown>
  deepEqual(bodyOf('vllm', '/v1/completions')['stop_token_ids'], [2, 0])
  deepEqual(paramsOf(bodyOf('vllm', '/inference/v1/generate'))['stop_token_ids'], [2, 0])
  deepEqual(paramsOf(bodyOf('sglang', '/generate'))['stop_token_ids'], [2, 0])
})
