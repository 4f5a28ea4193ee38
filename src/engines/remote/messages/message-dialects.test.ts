import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { modelSampling } from '../../../core/generation.ts'
import { ReplicaFault } from '../dialect.ts'
import { EventSplitter, LineSplitter } from '../record-splitters.ts'
import { chatCompletions } from './chat-completions.ts'
import type { MessageDialect, MessageFacts, MessageRequest, MessageStep } from './message-dialect.ts'
import { ollama } from './ollama.ts'
import { readWindowFault } from './window-fault.ts'

const folder = join(import.meta.dirname, '../../../../test/fixtures/engines')
const request: MessageRequest = {
  messages: [{ role: 'user', content: 'What is the capital of France?' }],
  tools: [],
  toolChoice: 'auto',
  parallelCalls: true,
  format: null,
  thinks: false,
  sampling: modelSampling,
  outputTokensMax: 80,
  isolation: 'org',
  traceparent: null,
}

/** The body of a recorded answer, byte for byte. */
function readBody(name: string): Buffer {
  const text = readFileSync(join(folder, `${name}.http`), 'utf8')
  const answer = text.slice(text.indexOf('\n\n') + 2)
  const body = answer.slice(answer.indexOf('\n\n') + 2).trimEnd()
  return Buffer.from(name.startsWith('ollama') ? `${body}\n` : `${body}\n\n`)
}

function read(dialect: MessageDialect, body: Buffer, pieceBytes = body.length): MessageStep[] {
  const splitter = dialect === ollama ? new LineSplitter() : new EventSplitter()
  const reader = dialect.createReader(request)
  const steps: MessageStep[] = []
  for (let start = 0; start < body.length; start += pieceBytes)
    for (const record of splitter.push(body.subarray(start, start + pieceBytes))) steps.push(...reader.read(record))
  splitter.end()
  reader.end()
  return steps
}

const textOf = (steps: readonly MessageStep[], kind: 'text' | 'thinking') =>
  steps.map((step) => (step.kind === kind ? step.text : '')).join('')

const streams: readonly (readonly [MessageDialect, string])[] = [
  [ollama, 'ollama-fb30760/api-chat-stream'],
  ...['vllm-0.32.0', 'sglang-0.5.23', 'llama-server-0.5.0'].flatMap((engine) =>
    ['chat-stream', 'chat-json-schema-stream', 'chat-tool-named-stream', 'chat-stream-stop'].map(
      (name) => [chatCompletions, `${engine}/${name}`] as const,
    ),
  ),
]

test('each recorded stream of messages is read to its text, its counts and its one end', () => {
  const sentence = 'The capital of France is Paris.'
  const expected: Readonly<Record<string, readonly [string, string, string, number, number, number]>> = {
    'ollama-fb30760/api-chat-stream': [sentence, '', 'stop', 16, 0, 8],
    'vllm-0.32.0/chat-stream': ['', sentence, 'stop', 37, 32, 8],
    'sglang-0.5.23/chat-stream': ['', sentence, 'stop', 37, 36, 8],
  }
  for (const [dialect, name] of streams) {
    const steps = read(dialect, readBody(name))
    const ends = steps.flatMap((step) => (step.kind === 'end' ? [step] : []))
    equal(ends.length, 1, name)
    equal(steps.at(-1)?.kind, 'end', name)
    const { reason, usage } = ends[0]!
    ok(usage.promptTokens > 0 && usage.outputTokens > 0 && ['stop', 'length'].includes(reason), name)
    const wanted = expected[name]
    if (wanted === undefined) continue
    deepEqual(
      [
        textOf(steps, 'text'),
        textOf(steps, 'thinking'),
        reason,
        usage.promptTokens,
        usage.cachedTokens,
        usage.outputTokens,
      ],
      wanted,
      name,
    )
  }
})

test('how a stream of messages is cut into pieces changes nothing of what is read', () => {
  for (const [dialect, name] of streams) {
    const body = readBody(name)
    const whole = read(dialect, body)
    for (const pieceBytes of [1, 7, 1_000]) deepEqual(read(dialect, body, pieceBytes), whole, name)
  }
})

test('a stream of messages that breaks off at any byte has no end', () => {
  for (const [dialect, name] of streams) {
    const body = readBody(name)
    const done = body.indexOf('data: [DONE]')
    const needed = done === -1 ? body.length : done
    for (let length = 0; length < needed; length++)
      throws(() => read(dialect, body.subarray(0, length)), ReplicaFault, `${name}, ${length} of ${needed} bytes`)
    equal(read(dialect, body.subarray(0, needed)).at(-1)?.kind, 'end', name)
  }
})

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const chunk = (delta: object, reason: string | null = null) =>
  event({ choices: [{ index: 0, delta, finish_reason: reason }] })
const usage = (changes: object = {}) =>
  event({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11, ...changes } })
const done = 'data: [DONE]\n\n'
const readChat = (...texts: string[]) => read(chatCompletions, Buffer.from(texts.join('')))
const hello = chunk({ content: 'Hello' })
const end = chunk({}, 'stop')

test('chat completions end with a reason and counts, whether [DONE] follows or not', () => {
  for (const texts of [
    [hello, end, usage(), done],
    [hello, end, usage()],
    [
      hello,
      event({
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        usage: { prompt_tokens: 9, completion_tokens: 2 },
      }),
    ],
  ])
    equal(readChat(...texts).at(-1)?.kind, 'end')
})

test('chat completions that end otherwise have not ended', () => {
  const broken: readonly (readonly [string, readonly string[]])[] = [
    ['no reason', [hello, usage(), done]],
    ['no counts', [hello, end, done]],
    ['an error and [DONE]', [hello, event({ error: { message: 'gone' } }), done]],
    ['an error instead of the counts', [hello, end, event({ error: { message: 'gone' } }), done]],
    ['an abort', [hello, chunk({}, 'abort'), usage(), done]],
    ['text behind the end', [hello, end, hello, usage(), done]],
    ['[DONE] alone', [done]],
    ['counts below zero', [hello, end, usage({ prompt_tokens: -1 }), done]],
    ['counts that are no numbers', [hello, end, usage({ completion_tokens: 'two' }), done]],
    ['more than was allowed', [hello, end, usage({ completion_tokens: 81 }), done]],
    ['no token for a text', [hello, end, usage({ completion_tokens: 0 }), done]],
    ['no token for a prompt', [hello, end, usage({ prompt_tokens: 0 }), done]],
    ['more cached than there is', [hello, end, usage({ prompt_tokens_details: { cached_tokens: 10 } }), done]],
    ['a second choice', [event({ choices: [{ index: 1, delta: { content: 'x' } }] }), end, usage()]],
  ]
  for (const [name, texts] of broken) throws(() => readChat(...texts), ReplicaFault, name)
})

test('Ollama ends with its own last record, with counts and for a reason that was asked for', () => {
  const line = (value: object) => `${JSON.stringify(value)}\n`
  const text = line({ message: { content: 'Hello' }, done: false })
  const last = { message: { content: '' }, done: true, done_reason: 'stop', prompt_eval_count: 9, eval_count: 2 }
  const readLines = (...lines: string[]) => read(ollama, Buffer.from(lines.join('')))
  equal(readLines(text, line(last)).at(-1)?.kind, 'end')
  const { prompt_eval_count: _, ...uncounted } = last
  for (const lines of [
    [text],
    [text, line({ error: 'gone' })],
    [text, line({ ...last, done_reason: 'unload' })],
    [text, line(uncounted)],
    [text, line({ ...last, eval_count: 81 })],
    [text, line({ ...last, error: 'gone' })],
  ])
    throws(() => readLines(...lines), ReplicaFault, lines.join(''))
})

test('a prompt that was cut without a word is found out by its count', () => {
  const content = 'hello there my friend '.repeat(3_000)
  const long: MessageRequest = { ...request, messages: [{ role: 'user', content }] }
  const reader = chatCompletions.createReader(long)
  const readEvent = (value: object) => {
    const events = new EventSplitter().push(Buffer.from(`data: ${JSON.stringify(value)}\n\n`))
    return events.flatMap((event) => reader.read(event))
  }
  readEvent({ choices: [{ index: 0, delta: { content: 'Marian,' }, finish_reason: 'length' }] })
  throws(() => readEvent({ choices: [], usage: { prompt_tokens: 2_050, completion_tokens: 3 } }), /seems to cut/)
})

test('Ollama is told to cut nothing, and asked for what was asked for', () => {
  const takes = { toolChoice: false, tools: true, schema: true, thinking: true }
  const facts = { modelName: 'smol:latest', takes } as MessageFacts
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } } as const
  const { path, body } = ollama.toRequest(
    {
      ...request,
      messages: [
        { role: 'assistant', content: '', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'found' },
      ],
      outputTokensMax: 8,
    },
    facts,
  )
  const { truncate, shift, options, messages, think } = body as Record<string, unknown> & { options: object }
  deepEqual([path, truncate, shift, think], ['/api/chat', false, false, false])
  equal((options as { num_predict: number }).num_predict, 8)
  deepEqual(messages, [
    { role: 'assistant', content: '', tool_calls: [{ function: { name: 'look', arguments: { a: 1 } } }] },
    { role: 'tool', content: 'found', tool_name: 'look' },
  ])
})

test('what does not fit is read in each engine’s own words, and nothing but the numbers of it', () => {
  const told: readonly (readonly [string, number, number])[] = [
    ['ollama-fb30760/api-chat-truncate-off', 12_010, 4_096],
    ['llama-server-0.5.0/completion-too-long', 9_000, 4_096],
    ['vllm-0.32.0/too-long', 9_000, 4_096],
    ['sglang-0.5.23/over-window-with-output', 4_000, 4_096],
    ['sglang-0.5.23/generate-too-long', 5_000, 4_096],
  ]
  for (const [name, inputTokens, windowTokens] of told) {
    // As much of it as is kept for the log.
    const cause = readBody(name).toString().slice(0, 300)
    deepEqual(
      readWindowFault(new ReplicaFault('rejected', 'It answered 400.', { cause })),
      { inputTokens, windowTokens },
      name,
    )
  }
  equal(readWindowFault(new ReplicaFault('rejected', 'It answered 400.', { cause: '{"error":"no such field"}' })), null)
})
