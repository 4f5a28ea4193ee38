import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkChatStream } from './chat-stream.ts'

type Chunk = Record<string, unknown>

const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm', system_fingerprint: 'fp' }
const chunk = (delta: unknown, reason: string | null = null, changes: Chunk = {}): Chunk => ({
  ...head,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  ...changes,
})
const role = chunk({ role: 'assistant', content: '', refusal: null })
const text = chunk({ content: 'Hi' })
const start = chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] })
const more = chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] })
const finish = chunk({}, 'stop')
const finishCalls = chunk({}, 'tool_calls')

function check(chunks: readonly unknown[], includeUsage = false, last = '[DONE]'): void {
  const frames = [...chunks.map((value) => JSON.stringify(value)), last].map((data) => ({ event: undefined, data }))
  checkChatStream(frames, { includeUsage })
}

test('good streams pass', () => {
  check([role, text, finish])
  check([role, chunk({ reasoning: 'a', reasoning_content: 'a' }), text, start, more, finishCalls])
  const usage = {
    prompt_tokens: 1,
    completion_tokens: 1,
    total_tokens: 2,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  }
  const withNull = [role, text, finish].map((value) => ({ ...value, usage: null }))
  check([...withNull, { ...head, choices: [], usage }], true)
  assert.throws(() => check([...withNull, { ...head, choices: [], usage: { ...usage, total_tokens: 3 } }], true))
})

const bad: Record<string, readonly unknown[]> = {
  'no chunk': [],
  'no role': [text, finish],
  'role twice': [role, role, finish],
  'no finish': [role, text],
  'finish twice': [role, finish, finish],
  'text after finish': [role, finish, text],
  'finish with text': [role, chunk({ content: 'x' }, 'stop')],
  'empty delta': [role, chunk({}), finish],
  'unknown finish': [role, chunk({}, 'end')],
  'null content': [role, chunk({ content: null }), finish],
  'reasoning under one name': [role, chunk({ reasoning: 'a' }), finish],
  'reasoning after text': [role, text, chunk({ reasoning: 'a', reasoning_content: 'a' }), finish],
  'text after a call': [role, start, more, text, finishCalls],
  'changed id': [role, chunk({ content: 'x' }, null, { id: 'chatcmpl-2' }), finish],
  'usage unasked': [role, chunk({ content: 'x' }, null, { usage: null }), finish],
  'missing choices': [role, { ...head }, finish],
  'an error': [role, chunk({ content: 'x' }, null, { error: {} }), finish],
  'stop with calls': [role, start, more, finish],
  'broken arguments': [role, start, finishCalls],
  'a gap in call indexes': [
    role,
    chunk({ tool_calls: [{ index: 1, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] }),
    finishCalls,
  ],
  'a repeated name': [
    role,
    start,
    chunk({ tool_calls: [{ index: 0, function: { name: 'f', arguments: '{}' } }] }),
    finishCalls,
  ],
  'a null id': [
    role,
    start,
    chunk({ tool_calls: [{ index: 0, id: null, function: { arguments: '{}' } }] }),
    finishCalls,
  ],
  'arguments at once': [
    role,
    chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] }),
    finishCalls,
  ],
}
for (const [name, chunks] of Object.entries(bad)) test(`refused: ${name}`, () => assert.throws(() => check(chunks)))

test('refused: no end mark, and event names', () => {
  assert.throws(() => check([role, finish], false, JSON.stringify(finish)))
  assert.throws(() => checkChatStream([{ event: 'message', data: '[DONE]' }], { includeUsage: false }))
})
