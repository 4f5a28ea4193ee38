import type { Tool } from '../../src/core/generation.ts'
import type { TemplateToolMessage } from '../../src/chat-format/tool-format/tool-format.ts'

export type Call = { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }
export type Turn = { readonly text: string; readonly calls: readonly Call[] }

const properties = {
  place: { type: 'string' },
  note: { type: 'string' },
  count: { type: 'integer' },
  ratio: { type: 'number' },
  isExact: { type: 'boolean' },
  nothing: { type: ['string', 'null'] },
  tags: { type: 'array', items: { type: 'string' } },
  nested: { type: 'object', properties: {} },
}

export const tools: readonly Tool[] = ['get_weather', 'files.read-all'].map((name) => ({
  name,
  description: 'A tool.',
  parameters: { type: 'object', properties },
  isStrict: false,
  schemaPath: [],
  input: 'json',
}))

/** Without lists and unions, on which the declarations of some templates fail. */
export const declarations: readonly object[] = tools.map(({ name, description }) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: { type: 'object', properties: { place: { type: 'string', description: 'Where.' } }, required: [] },
  },
}))

const plain: Call = { name: 'get_weather', arguments: { place: 'Oslo' } }
const empty: Call = { name: 'files.read-all', arguments: {} }
const hard: Call = {
  name: 'get_weather',
  arguments: { place: 'say "hi" \\ back\\\\ \\n C:\\dir', note: 'line\n\tnext\r\n<b>&amp; {x: [1]} `é😀漢字` \u2028' },
}
const values: Call = {
  name: 'get_weather',
  arguments: {
    count: 7,
    ratio: -2.5e-7,
    isExact: false,
    nothing: null,
    tags: ['a', 'b"c'],
    nested: { a: [{ b: null }, true] },
  },
}
/** What a notation of tags would take for the end of a value is sound where values are quoted. */
const quoting: Call = {
  name: 'get_weather',
  arguments: { place: 'a </tool_call> b <tool_call> [TOOL_CALLS] </parameter> c </function> d', note: '}]}' },
}

export const turns: readonly (Turn & { readonly title: string })[] = [
  { title: 'text', text: 'Just an answer with a { and a < in it.', calls: [] },
  { title: 'one call', text: '', calls: [plain] },
  { title: 'text before a call', text: 'Let me look.', calls: [plain] },
  { title: 'empty arguments', text: '', calls: [empty] },
  { title: 'nested and unicode arguments', text: '', calls: [hard] },
  { title: 'numbers, booleans, null and lists', text: '', calls: [values] },
  { title: 'text that looks like markers', text: '', calls: [quoting] },
  { title: 'two calls', text: '', calls: [hard, empty] },
  { title: 'three calls after text', text: 'First this.', calls: [values, plain, plain] },
]

export function writeTurn({ text, calls }: Turn, thinking: string | null, firstId = 0): TemplateToolMessage {
  return {
    role: 'assistant',
    content: text,
    ...(thinking !== null && { reasoning_content: thinking }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ name, arguments: given }, index) => ({
        id: `call_${firstId + index}_aBcDeFgHiJk`,
        type: 'function',
        function: { name, arguments: JSON.stringify(given) },
      })),
    }),
  }
}
