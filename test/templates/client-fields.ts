import type { EngineRequest, Message, TextBlock, Tool } from '../../src/core/generation.ts'
import { engineRequest } from '../harness/requests.ts'

/** A place in which a client's text reaches a prompt. */
export type ClientField = {
  readonly name: string
  /** Templates write names between markup of their own. */
  readonly isName?: true
  readonly isReshaped?: true
  request(text: string): EngineRequest
}

const say = (text: string): TextBlock => ({ kind: 'text', text })
const hello: Message = { role: 'user', content: [say('Hello there.')] }

function declare(changes: Partial<Tool> = {}): Tool {
  const parameters = { type: 'object', properties: { place: { type: 'string', description: 'Where.' } }, required: [] }
  return {
    name: 'look_up',
    description: 'Looks a place up.',
    parameters,
    isStrict: false,
    schemaPath: [],
    input: 'json',
    ...changes,
  }
}

type Called = { readonly id?: string; readonly name?: string; readonly given?: string; readonly result?: string }

function afterCall({ id = 'call_aBcD1', name = 'look_up', given = '{"place":"Oslo"}', result = 'Rain.' }: Called) {
  return engineRequest({
    tools: [declare()],
    messages: [
      hello,
      { role: 'assistant', content: [{ kind: 'tool-call', id, name, arguments: given }] },
      { role: 'user', content: [{ kind: 'tool-result', toolCallId: id, isError: false, content: [say(result)] }] },
    ],
  })
}

const withMessages = (...messages: readonly Message[]) => engineRequest({ messages })
const withSchema = (parameters: Tool['parameters']) => engineRequest({ tools: [declare({ parameters })] })
const withProperty = (property: object) =>
  withSchema({ type: 'object', properties: { place: { type: 'string', description: 'Where.', ...property } } })

export const clientFields: readonly ClientField[] = [
  { name: 'system text', request: (text) => withMessages({ role: 'system', content: [say(text)] }, hello) },
  { name: 'user text', request: (text) => withMessages({ role: 'user', content: [say(text)] }) },
  {
    name: 'assistant text',
    request: (text) => withMessages(hello, { role: 'assistant', content: [say(text)] }, hello),
  },
  {
    name: 'late system text',
    request: (text) =>
      withMessages(
        hello,
        { role: 'assistant', content: [say('Yes.')] },
        { role: 'system', content: [say(text)] },
        hello,
      ),
  },
  {
    name: 'thinking',
    request: (text) => {
      const call = { kind: 'tool-call', id: 'call_1', name: 'look_up', arguments: '{"place":"Oslo"}' } as const
      const result = { kind: 'tool-result', toolCallId: 'call_1', isError: false, content: [say('Rain.')] } as const
      return engineRequest({
        tools: [declare()],
        thinking: { kind: 'on', tokensMax: null },
        messages: [
          hello,
          { role: 'assistant', content: [{ kind: 'thinking', text }, call] },
          { role: 'user', content: [result] },
        ],
      })
    },
  },
  {
    name: 'text to be continued',
    request: (text) =>
      engineRequest({
        messages: [hello, { role: 'assistant', content: [say(text)] }],
        continuesFinalMessage: true,
      }),
  },
  { name: 'name of a call', isName: true, request: (text) => afterCall({ name: text }) },
  { name: 'id of a call', isReshaped: true, request: (text) => afterCall({ id: text }) },
  { name: 'result of a call', request: (text) => afterCall({ result: text }) },
  { name: 'value of an argument', request: (text) => afterCall({ given: JSON.stringify({ place: text }) }) },
  { name: 'value of an argument, escaped', request: (text) => afterCall({ given: `{"place":${escapeAll(text)}}` }) },
  {
    name: 'name of an argument',
    isName: true,
    request: (text) => afterCall({ given: JSON.stringify({ [text]: 'Oslo' }) }),
  },
  { name: 'name of an argument, escaped', request: (text) => afterCall({ given: `{${escapeAll(text)}:1}` }) },
  {
    name: 'deep in an argument, escaped',
    request: (text) => afterCall({ given: `{"place":[{"a":[{${escapeAll(text)}:${escapeAll(text)}}]}]}` }),
  },
  { name: 'arguments that are a list, escaped', request: (text) => afterCall({ given: `[${escapeAll(text)}]` }) },
  { name: 'arguments that are no JSON', request: (text) => afterCall({ given: text }) },
  { name: 'name of a tool', isName: true, request: (text) => engineRequest({ tools: [declare({ name: text })] }) },
  { name: 'description of a tool', request: (text) => engineRequest({ tools: [declare({ description: text })] }) },
  {
    name: 'name of a parameter',
    isName: true,
    request: (text) =>
      withSchema({
        type: 'object',
        properties: { [text]: { type: 'string', description: 'Where.' } },
        required: [text],
      }),
  },
  { name: 'description of a parameter', request: (text) => withProperty({ description: text }) },
  { name: 'choice of a parameter', request: (text) => withProperty({ enum: [text, 'Rome'] }) },
  { name: 'default of a parameter', request: (text) => withProperty({ default: text }) },
  { name: 'title of a parameter', request: (text) => withProperty({ title: text }) },
  { name: 'pattern of a parameter', request: (text) => withProperty({ pattern: text }) },
  { name: 'keyword of a schema', isName: true, request: (text) => withProperty({ [text]: text }) },
  {
    name: 'definition of a schema',
    request: (text) =>
      withSchema({
        type: 'object',
        properties: { place: { $ref: `#/$defs/${text}`, description: 'Where.' } },
        $defs: { [text]: { type: 'string' } },
      }),
  },
]

/** A string of JSON in which every character is an escape. */
export function escapeAll(text: string): string {
  const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index))
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`
}
