import { deepEqual, equal, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { renderWith } from '../../../../test/templates/render.ts'
import type { EngineRequest, Message, Tool } from '../../../core/generation.ts'
import { shapeMessages } from '../../../chat-format/shape-messages.ts'
import { deriveToolFormat } from '../../../chat-format/tool-format/derive-tool-format.ts'
import { toTemplateCalls } from '../../../chat-format/tool-format/to-template-calls.ts'
import { blocksOf, locateBlocks } from './prompt-outline.ts'

const templates = ['json-envelope', 'marked-text', 'tagged'] as const
const folder = join(import.meta.dirname, '../../../../test/fixtures/templates')
const traits = { takesSystem: true, takesLateSystem: true, thinkingTags: null, thinkingSwitch: 'never' } as const

type Conversation = Pick<EngineRequest, 'tools' | 'messages'>

/** What stands in the prompt between the end of the block before and that of each block, by its label. */
function outline(template: string, { tools, messages }: Conversation): Map<string, string> {
  const render = renderWith(readFileSync(join(folder, `${template}.jinja`), 'utf8'))
  const turns = toTemplateCalls(deriveToolFormat(render)!, shapeMessages(messages, traits, tools))
  const declared = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }))
  const options = { tools: declared.length === 0 ? null : declared, addGenerationPrompt: true, enableThinking: false }
  const rendered = render(turns, options)
  let start = 0
  return new Map(
    locateBlocks(rendered, blocksOf({ tools, messages })).map(({ label, end }) => {
      const part = rendered.slice(start, end)
      start = end
      return [label, part]
    }),
  )
}

const text = (...texts: readonly string[]) => texts.map((one) => ({ kind: 'text', text: one }) as const)
const user = (...texts: readonly string[]): Message => ({ role: 'user', content: text(...texts) })
const answer = (...texts: readonly string[]): Message => ({ role: 'assistant', content: text(...texts) })

function tool(name: string, description: string, properties: Record<string, object>): Tool {
  const parameters = { type: 'object', properties, required: Object.keys(properties) }
  return { name, description, parameters, isStrict: false, schemaPath: [], input: 'json' }
}

for (const template of templates) {
  test(`${template}: each block ends where its own text does`, () => {
    const call = { kind: 'tool-call', id: 'call_1', name: 'Read', arguments: '{"path":"a \\"b\\"","count":7}' } as const
    const result = {
      kind: 'tool-result',
      toolCallId: 'call_1',
      isError: false,
      content: text('It says: Read.'),
    } as const
    const parts = outline(template, {
      tools: [
        tool('Read', 'Reads "a" file; never Write.', { path: { type: 'string', description: 'Which.' } }),
        tool('Write', '', { path: { type: 'string' }, over: { type: 'boolean', default: false } }),
      ],
      messages: [
        { role: 'system', content: text('Use "Read" before Write.', 'Be brief.') },
        user('user', 'e'),
        { role: 'assistant', content: [...text('I will.'), call] },
        { role: 'user', content: [result] },
        user('e'),
      ],
    })
    const endings = {
      'tool 1 (Read)': '"path"]}}}',
      'tool 2 (Write)': '"over"]}}}',
      'system message 1, block 1': 'Use "Read" before Write.',
      'system message 1, block 2': 'Be brief.',
      'user message 2, block 1': 'user',
      'user message 2, block 2': '\ne',
      'assistant message 3, block 1': 'I will.',
      'assistant message 3, block 2': { 'json-envelope': '7}}', 'marked-text': '7}', tagged: '>7' }[template],
      'user message 4, block 1': 'It says: Read.',
      'user message 5, block 1': 'e',
    }
    deepEqual([...parts.keys()].toSorted(), Object.keys(endings).toSorted())
    for (const [label, ending] of Object.entries(endings))
      ok(parts.get(label)?.endsWith(ending), `${label}: ${parts.get(label)}`)
    ok(parts.get('tool 2 (Write)')?.includes('"name": "Write"') === true)
    equal(parts.get('user message 5, block 1')?.includes('It says'), false)
  })
}

test('thinking that was left out is not found where somebody repeats it', () => {
  const thought = { kind: 'thinking', text: 'The sum is four.' } as const
  const messages: Message[] = [
    user('What is it?'),
    { role: 'assistant', content: [thought, ...text('Four.')] },
    user('Why do you say: The sum is four. I do not believe it.'),
    answer('It is.'),
    user('Thank you.'),
  ]
  // This template shows no thinking.
  const parts = outline('tagged', { tools: [], messages })
  equal(parts.get('assistant message 2, block 1'), '')
  equal(parts.get('assistant message 2, block 2'), '</turn><assistant>Four.')
  ok(parts.get('user message 3, block 1')?.endsWith('I do not believe it.'))
  ok(parts.get('user message 5, block 1')?.endsWith('Thank you.'))
})

test('thinking that is shown is told from the text behind it', () => {
  const thought = { kind: 'thinking', text: 'The sum is four.' } as const
  const parts = outline('json-envelope', {
    tools: [],
    messages: [
      user('What is it?'),
      { role: 'assistant', content: [thought, ...text('The sum is four.')] },
      user('Why?'),
    ],
  })
  equal(parts.get('assistant message 2, block 1'), '<</turn>>\n<<assistant>><ponder>The sum is four.')
  equal(parts.get('assistant message 2, block 2'), '</ponder>The sum is four.')
})

test('a text that a template wrote in another way costs none of the others their places', () => {
  const parts = outline('tagged', { tools: [], messages: [user('a'), answer('b'), user('c')] })
  equal(parts.get('assistant message 2, block 1'), '</turn><assistant>b')
  const strange = outline('tagged', {
    tools: [],
    messages: [user('One.'), { role: 'assistant', content: [] }, { role: 'user', content: [] }, user('Two.')],
  })
  ok(strange.get('user message 4, block 1')?.endsWith('Two.'))
})

test('a million values in a call take no time to speak of', () => {
  const values = JSON.stringify({ list: Array.from({ length: 1_000_000 }, () => 1) })
  const call = { kind: 'tool-call', id: 'call_1', name: 'Read', arguments: values } as const
  const messages: Message[] = [user('Go.'), { role: 'assistant', content: [call] }, user('Two.')]
  const rendered = `<user>Go.</turn><assistant>Read ${values}</turn><user>Two.</turn>`
  const before = performance.now()
  const located = locateBlocks(rendered, blocksOf({ tools: [], messages }))
  ok(performance.now() - before < 1_500)
  equal(located.length, 3)
})

test('a name that stands in the text half a million times takes no time to speak of', () => {
  const system = '"a" '.repeat(500_000)
  const description = 'b'.repeat(2_000_000)
  const messages: Message[] = [{ role: 'system', content: text(system) }, user('Hello')]
  const rendered = `<sys>${system}\n{"name": "a", "description": "${description}"}</turn><user>Hello</turn>`
  const before = performance.now()
  const located = locateBlocks(rendered, blocksOf({ tools: [tool('a', description, {})], messages }))
  ok(performance.now() - before < 20_000)
  equal(located.length, 3)
})

test('thirty thousand tools that a template shows in another way take no time to speak of', () => {
  const tools = Array.from({ length: 30_000 }, (_, index) => tool(`t${index}`, '', {}))
  const rendered = tools.map(({ name }) => `<tool>${name}</tool>${' '.repeat(300)}`).join('')
  const before = performance.now()
  equal(locateBlocks(rendered, blocksOf({ tools, messages: [] })).length, 30_000)
  ok(performance.now() - before < 20_000)
})
