import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message, ToolResultBlock } from '../core/generation.ts'
import { inOrderOfCalls } from './tool-results.ts'

const calls = (...ids: readonly string[]): Message => ({
  role: 'assistant',
  content: ids.map((id) => ({ kind: 'tool-call', id, name: 'get_weather', arguments: `{"place":"${id}"}` })),
})
const result = (toolCallId: string, text = `${toolCallId} is sunny`): ToolResultBlock => ({
  kind: 'tool-result',
  toolCallId,
  isError: false,
  content: [{ kind: 'text', text }],
})
const said = (...content: Extract<Message, { role: 'user' }>['content']): Message => ({ role: 'user', content })
const question = said({ kind: 'text', text: 'And?' })

/** The calls that are answered, in the order of the results, with a ! for each that is told to have none. */
function answered(messages: readonly Message[]): string[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => {
      if (block.kind !== 'tool-result') return []
      return [block.isError ? `${block.toolCallId}!` : block.toolCallId]
    }),
  )
}

const cases: readonly { name: string; messages: readonly Message[]; order: readonly string[] }[] = [
  {
    name: 'in one message',
    messages: [calls('a', 'b', 'c'), said(result('c'), result('a'), result('b'))],
    order: ['a', 'b', 'c'],
  },
  {
    name: 'in several messages',
    messages: [calls('a', 'b'), said(result('b')), question, said(result('a'))],
    order: ['a', 'b'],
  },
  {
    name: 'of calls in two messages',
    messages: [calls('a'), calls('b'), said(result('b'), result('a'))],
    order: ['a', 'b'],
  },
  {
    name: 'two of one call',
    messages: [calls('a', 'b'), said(result('b'), result('a', '1'), result('a', '2'))],
    order: ['a', 'a', 'b'],
  },
  {
    name: 'of an earlier round',
    messages: [
      calls('z', 'y'),
      said(result('z'), result('y')),
      calls('a', 'b'),
      said(result('z'), result('b'), result('a')),
    ],
    order: ['z', 'y', 'a', 'b', 'z'],
  },
  {
    name: 'of which an earlier one is missing',
    messages: [calls('a', 'b', 'c'), said(result('c'))],
    order: ['a!', 'b!', 'c'],
  },
]
for (const { name, messages, order } of cases) {
  test(`results ${name} come in the order of their calls`, () => {
    assert.deepEqual(answered(inOrderOfCalls(messages)), order)
  })
}

test('a conversation whose results are in order, or of which the last are missing, is left as it is', () => {
  const inOrder = [
    calls('a', 'b'),
    said(result('a'), result('b')),
    calls('a', 'b', 'c'),
    said(result('a'), result('b')),
  ]
  assert.equal(inOrderOfCalls(inOrder), inOrder)
})

test('what is to be kept in the cache ends where it did when results are put in order', () => {
  const marked: ToolResultBlock = { ...result('a'), cacheBreakpoint: { lifetime: '5m' } }
  const [, turn] = inOrderOfCalls([calls('a', 'b'), said(result('b'), marked)])
  const marks = (turn?.content ?? []).map((block) => 'cacheBreakpoint' in block)
  assert.deepEqual(marks, [false, true])
})
