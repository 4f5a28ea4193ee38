// A request that was sent before opens in the playground as it was: what is made of it there is the same request.

import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { faultOf, toBody, type Settings, type Turn } from '../../web/src/pages/playground/conversation.ts'
import { readBody, schemaOf } from '../../web/src/pages/playground/read-body.ts'

const more = {
  topP: '0.9',
  topK: '',
  stops: '',
  seed: '',
  presence: '',
  frequency: '',
  choice: 'auto',
  cache: 'none',
} as const
const settings = {
  model: 'hal-1.0',
  system: 'You answer in one sentence.',
  outputTokensMax: '2048',
  temperature: '0.5',
  thinking: 'on',
  tools: JSON.stringify([{ name: 'look_up', description: 'Looks it up.', parameters: { type: 'object' } }], null, 2),
  schema: JSON.stringify({ type: 'object', properties: {} }, null, 2),
  more,
} as const satisfies Omit<Settings, 'format'>
const turns: readonly Turn[] = [
  { kind: 'user', text: 'Look both up.' },
  {
    kind: 'assistant',
    text: 'I do.',
    calls: [
      { id: 'call_1', name: 'look_up', arguments: '{"word":"one"}' },
      { id: 'call_2', name: 'look_up', arguments: '{"word":"two"}' },
    ],
  },
  {
    kind: 'results',
    results: [
      { id: 'call_1', text: '1', isError: false },
      { id: 'call_2', text: '2', isError: false },
    ],
  },
  { kind: 'user', text: 'And now?' },
]

for (const format of ['messages', 'chat-completions'] as const) {
  test(`a request in ${format} becomes the conversation and the settings that it was made of`, () => {
    const read = readBody(format, JSON.stringify(toBody({ ...settings, format }, turns)))
    deepEqual(read, {
      search: { format, model: 'hal-1.0', max: '2048', temperature: '0.5', topP: '0.9', thinking: 'on' },
      texts: { system: settings.system, tools: settings.tools, schema: settings.schema },
      turns,
      isPartial: false,
    })
  })

  test(`a request in ${format} is known to ask for a schema, or for none`, () => {
    deepEqual(schemaOf(toBody({ ...settings, format }, turns)), { type: 'object', properties: {} })
    equal(schemaOf(toBody({ ...settings, format, schema: ' ' }, turns)), undefined)
  })

  test(`a picture in ${format} is left out, and it is said so`, () => {
    const picture = format === 'messages' ? { type: 'image', source: {} } : { type: 'image_url', image_url: {} }
    const content = [{ type: 'text', text: 'What is this?' }, picture]
    const read = readBody(format, JSON.stringify({ model: 'clarke-1.0', messages: [{ role: 'user', content }] }))
    deepEqual(read?.turns, [{ kind: 'user', text: 'What is this?' }])
    equal(read.isPartial, true)
  })

  test(`what is no request in ${format} opens nothing`, () => {
    for (const text of ['', '[]', 'null', '{']) equal(readBody(format, text), null)
    deepEqual(readBody(format, '{"messages":[3,null,{"role":"user"}]}')?.turns, [])
  })
}

test('the fields of the newer names of chat completions are read as well', () => {
  const messages = [
    { role: 'developer', content: [{ type: 'text', text: 'Be short.' }] },
    { role: 'user', content: 'Hello' },
  ]
  const read = readBody('chat-completions', JSON.stringify({ model: 'tycho-1.0', max_completion_tokens: 5, messages }))
  deepEqual([read?.search.max, read?.texts.system], ['5', 'Be short.'])
  deepEqual(read?.turns, [{ kind: 'user', text: 'Hello' }])
})

test('tools and a schema that are none are told before they are sent', () => {
  const faultWith = (changes: Partial<Settings>) => faultOf({ ...settings, format: 'messages', ...changes })
  equal(faultWith({}), null)
  for (const tools of ['[null]', '[3]', '[[]]', '[{"name":"a"},{"description":"Of nothing."}]'])
    match(faultWith({ tools }) ?? '', /^Tool [12] is no JSON object with a name: \{name, description, parameters\}\.$/)
  for (const tools of ['{', '{}', 'null']) match(faultWith({ tools }) ?? '', /^The tools are a JSON list/)
  for (const schema of ['{', 'null', '[]', '3']) equal(faultWith({ schema }), 'The schema is no JSON object.')
})
