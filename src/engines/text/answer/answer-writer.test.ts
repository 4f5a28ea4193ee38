import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engineRequest } from '../../../../test/harness/requests.ts'
import { checkStream } from '../../../core/check-stream.ts'
import type { EngineRequest, FinishReason, GenerationEvent } from '../../../core/generation.ts'
import { createToolCallParser, type ToolCallParser } from '../../../chat-format/tool-format/parse-tool-calls.ts'
import { plainFrame, type ToolFormat } from '../../../chat-format/tool-format/tool-format.ts'
import { AnswerWriter } from './answer-writer.ts'
import type { Vocabulary } from '../vocabulary.ts'

const endToken = 0

const format: ToolFormat = {
  notation: { kind: 'marked', open: '<call>', close: '</call>', pieces: [{ kind: 'name' }, { kind: 'arguments' }] },
  section: { open: '', close: '' },
  separator: '',
  callsMax: null,
  history: {
    argumentsAs: 'object',
    takesTextArguments: false,
    ids: { kind: 'any' },
    textBesideCalls: 'before',
    toolMessages: 'several',
  },
  endsTurn: true,
  ...plainFrame,
}

/** Writes an answer whose tokens are the given bytes; a null is the end token. */
async function write(
  pieces: readonly (string | Uint8Array | null)[],
  changes: Partial<EngineRequest> = {},
  thinks = false,
  toolCalls: ToolCallParser | null = null,
) {
  const vocabulary = {
    bytesOf: (token: number) => Buffer.from(pieces[token - 1] ?? ''),
    endsGeneration: (token: number) => token === endToken,
  } as unknown as Vocabulary
  const events: GenerationEvent[] = []
  const writer = new AnswerWriter({
    request: engineRequest(changes),
    prompt: { tokens: new Uint32Array(5), thinks, startsThinking: thinks },
    tags: { open: '<think>', close: '</think>' },
    toolCalls,
    dropsRemainder: false,
    isCallsOnly: false,
    vocabulary,
    emit: (event) => events.push(event),
  })
  writer.start()
  let reason: FinishReason | null = null
  for (const [index, piece] of pieces.entries()) {
    const logprob = changes.logprobsTop === 0 ? { bytes: Buffer.from(piece ?? ''), logprob: -index, top: [] } : null
    reason ??= writer.accept(piece === null ? endToken : index + 1, logprob, null)
  }
  writer.finish(reason ?? { kind: 'length' })
  await Array.fromAsync(checkStream(ReadableStream.from(events)))
  return events
}

const deltas = (events: readonly GenerationEvent[]) =>
  events.flatMap((event) => (event.type === 'delta' ? [event.text] : []))
const tokens = (events: readonly GenerationEvent[]) =>
  events.flatMap((event) => (event.type === 'delta' ? [event.tokens] : []))

test('cache writes are counted up to the furthest mark, each part by the lifetime of the mark that ends it', () => {
  const count = (read: number, ...breakpoints: { length: number; lifetimeMs: number }[]) => {
    const vocabulary = { bytesOf: () => Buffer.from(''), endsGeneration: () => false } as unknown as Vocabulary
    const prompt = { tokens: new Uint32Array(100), thinks: false, startsThinking: false }
    const rest = { tags: null, toolCalls: null, dropsRemainder: false, isCallsOnly: false, vocabulary, emit: () => {} }
    const writer = new AnswerWriter({ request: engineRequest(), prompt, ...rest })
    writer.countCached(read, breakpoints)
    const { inputUncached, inputCacheRead, inputCacheWrite, inputCacheWriteLong } = writer.usage()
    return [inputUncached, inputCacheRead, inputCacheWrite, inputCacheWriteLong]
  }
  const long = { length: 40, lifetimeMs: 3_600_000 }
  const short = { length: 90, lifetimeMs: 300_000 }
  assert.deepEqual(count(0, long, short), [10, 0, 90, 40])
  assert.deepEqual(count(30, long, short), [10, 30, 60, 10])
  assert.deepEqual(count(60, long, short), [10, 60, 30, 0])
  assert.deepEqual(count(95, long, short), [5, 95, 0, 0])
  assert.deepEqual(count(0, short), [10, 0, 90, 0])
  const later = { length: 95, lifetimeMs: 3_600_000 }
  assert.deepEqual(count(0, short, later), [5, 0, 95, 5])
  assert.deepEqual(count(0, long, short, later), [5, 0, 95, 45])
  assert.deepEqual(count(30, later, short, long), [5, 30, 65, 15])
  assert.deepEqual(count(93, short, later), [5, 93, 2, 2])
  assert.deepEqual(count(0, { ...long, lifetimeMs: 300_000 }, long), [60, 0, 40, 40])
  assert.deepEqual(count(0), [100, 0, 0, 0])
})

test('a character that comes in pieces is shown when it is whole, with all its tokens', async () => {
  const face = Buffer.from('😀')
  const events = await write(['a', face.subarray(0, 1), face.subarray(1, 3), face.subarray(3), 'b', null])
  assert.deepEqual(deltas(events), ['a', '😀', 'b'])
  assert.deepEqual(tokens(events), [1, 3, 1])
  assert.deepEqual(events.at(-1), {
    type: 'finish',
    reason: { kind: 'end' },
    usage: {
      inputUncached: 5,
      inputCacheRead: 0,
      inputCacheWrite: 0,
      inputCacheWriteLong: 0,
      output: 6,
      outputThinking: 0,
    },
  })
})

test('bytes that are no text become marks, a character cut off by the limit becomes nothing', async () => {
  assert.deepEqual(deltas(await write([Uint8Array.of(0xff), 'a', Buffer.from('é').subarray(0, 1)])), ['\ufffd', 'a'])
})

test('no part of a stop sequence is shown, and the tokens it held back are counted', async () => {
  const events = await write(['one ST', 'O', 'P two', null], { stopSequences: ['STOP'] })
  assert.deepEqual(deltas(events), ['one '])
  const finish = events.at(-1)
  assert.ok(finish?.type === 'finish')
  assert.deepEqual([finish.reason, finish.usage.output], [{ kind: 'stop-sequence', sequence: 'STOP' }, 3])
})

test('text that looked like the beginning of a stop sequence is shown at the end', async () => {
  assert.deepEqual(deltas(await write(['one ST', null], { stopSequences: ['STOP'] })), ['one ', 'ST'])
})

test('stop sequences do not count in thinking; white space around it is not shown', async () => {
  const events = await write(
    ['\nI ST', 'OP.\n', '</thi', 'nk>', '\n\n', '  Yes ', 'STOP', null],
    { stopSequences: ['STOP'] },
    true,
  )
  assert.deepEqual(deltas(events), ['I ST', 'OP.', 'Yes '])
  const finish = events.at(-1)
  assert.ok(finish?.type === 'finish')
  assert.deepEqual([finish.usage.outputThinking, finish.usage.output], [4, 7])
})

test('an answer of nothing has no block', async () => {
  const events = await write([null])
  assert.deepEqual(
    events.map(({ type }) => type),
    ['start', 'finish'],
  )
})

test('a stray closing marker is neither in the text nor in the log-probabilities', async () => {
  const pieces = ['\n</', 'call>', '\n', 'Yes', ' and', ' no.', '\n', '</call>', null]
  const events = await write(pieces, { logprobsTop: 0 }, false, createToolCallParser(format, []))
  assert.equal(deltas(events).join(''), 'Yes and no.')
  const logprobs = events.flatMap((event) => (event.type === 'delta' ? (event.logprobs ?? []) : []))
  assert.deepEqual(
    logprobs.map(({ bytes, logprob }) => [Buffer.from(bytes).toString(), logprob]),
    [
      ['Yes', -3],
      [' and', -4],
      [' no.', -5],
    ],
  )
  const finish = events.at(-1)
  assert.ok(finish?.type === 'finish')
  assert.equal(finish.usage.output, pieces.length)
})

test('a call with free text that the limit cut off has what was written of it', async () => {
  const tool = { name: 'run', description: '', parameters: {}, isStrict: false, schemaPath: [], input: 'text' } as const
  const inputOf = async (...pieces: readonly string[]) => {
    const events = await write(['<call>run', ...pieces], { tools: [tool] }, false, createToolCallParser(format, [tool]))
    const finish = events.at(-1)
    assert.ok(finish?.type === 'finish')
    return [deltas(events).join(''), finish.reason.kind]
  }
  assert.deepEqual(await inputOf('{"input": "print(', '1)\\n', 'say \\"', 'hi'), ['print(1)\nsay "hi', 'length'])
  for (const half of ['\\', '\\u00', '\\ud83d', '\\ud83d\\', '\\ud83d\\ude0']) {
    assert.deepEqual(await inputOf('{"input":"a\\\\', half), ['a\\', 'length'], half)
  }
  assert.deepEqual(await inputOf('{"input":"\\ud83d\\ude00'), ['😀', 'length'])
  assert.deepEqual(await inputOf('{"input":"whole"'), ['whole', 'length'])
  for (const begun of ['{', '{"inp', '{"input": ']) assert.deepEqual(await inputOf(begun), ['', 'length'])
  assert.deepEqual(await inputOf('{"input":"whole"}', '</call>'), ['whole', 'length'])
})
