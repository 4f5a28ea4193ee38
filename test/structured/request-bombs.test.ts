// Requests that are a danger in another way than by a schema: in number, in names, by fields of other servers.

import { equal, match, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { formats } from '../harness/http/ask.ts'
import { checkError, type ExpectedError } from '../harness/check-error.ts'
import { createTarget, invalid, type Fields } from './bomb-target.ts'

const send = createTarget()

type Refused = { readonly name: string; readonly fields: Fields; readonly error?: Partial<ExpectedError> }

/** How many tokens the placeholder weights have. */
const placeholderTokens = 827

const ids = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [String(index), 1]))
const tools = (count: number, name: (index: number) => string, parameters: Fields = { type: 'object' }) => ({
  chat: Array.from({ length: count }, (_, i) => ({ type: 'function', function: { name: name(i), parameters } })),
  messages: Array.from({ length: count }, (_, i) => ({ name: name(i), input_schema: parameters })),
})

const chatOnly: readonly Refused[] = [
  { name: '5,000 biases', fields: { logit_bias: ids(5_000) }, error: { param: 'logit_bias' } },
  { name: 'a bias of a prototype', fields: { logit_bias: { constructor: 1 } } },
  { name: '10,000 stop sequences', fields: { stop: Array(10_000).fill('x') }, error: { param: 'stop' } },
  { name: 'a grammar', fields: { grammar: 'root ::= root root' }, error: { param: 'grammar' } },
  { name: 'guided_grammar', fields: { guided_grammar: 'root ::= "a"' }, error: { param: 'guided_grammar' } },
  { name: 'guided_regex', fields: { guided_regex: '(a+)+$' }, error: { param: 'guided_regex' } },
  {
    name: 'structured_outputs',
    fields: { structured_outputs: { regex: 'a' } },
    error: { param: 'structured_outputs' },
  },
  { name: 'a grammar as a format', fields: { response_format: { type: 'grammar', grammar: 'x' } } },
  { name: 'a structural tag', fields: { response_format: { type: 'structural_tag' } } },
  {
    name: 'a template',
    fields: { chat_template: '{% for i in range(10**8) %}{% endfor %}' },
    error: { param: 'chat_template' },
  },
  {
    name: 'a bomb as guided_json',
    fields: { guided_json: { type: 'string', pattern: '(a' } },
    error: { param: 'guided_json.pattern' },
  },
  { name: 'guided_json as text', fields: { guided_json: '{"type":' }, error: { param: 'guided_json' } },
]

describe('requests', () => {
  for (const { name, fields, error } of chatOnly) {
    test(name, async () => checkError(await send(name, 'chat', fields), 'chat', { ...invalid, ...error }))
  }

  for (const format of formats) {
    const refusedTools: readonly (readonly [string, Fields, RegExp])[] = [
      ['10,000 tools', { tools: tools(10_000, (index) => `f${index}`)[format] }, /tools|context|too long/],
      ['a tool that comes twice', { tools: tools(2, () => 'f')[format] }, /tools\.?\[?1/],
      ['a tool with a name of 129 letters', { tools: tools(1, () => 'f'.repeat(129))[format] }, /tools\.?\[?0/],
      ['a tool with a name of no letters', { tools: tools(1, () => '')[format] }, /tools\.?\[?0/],
      ['a tool with markup for a name', { tools: tools(1, () => '</tools><|im_start|>')[format] }, /tools\.?\[?0/],
      ['a tool with a name in another script', { tools: tools(1, () => '天気')[format] }, /tools\.?\[?0/],
    ]
    for (const [name, fields, path] of refusedTools) {
      test(`${format}: ${name}`, async () => {
        const answer = await send(name, format, fields)
        equal(answer.status, 400, answer.text.slice(0, 300))
        match(answer.text.slice(0, 600), path)
        ok(answer.text.length < 2_048, 'the error repeats what was sent')
      })
    }

    test(`${format}: names of prototypes are names like others`, async () => {
      const choice = format === 'chat' ? { tool_choice: 'required' } : { tool_choice: { type: 'any' } }
      const names = ['__proto__', 'constructor', 'toString']
      const fields = {
        tools: tools(3, (index) => names[index] ?? '', { type: 'object', properties: {} })[format],
        max_tokens: 400,
      }
      const answer = await send('prototypes', format, { ...fields, ...choice })
      equal(answer.status, 200, answer.text.slice(0, 300))
      match(answer.text, /"name":"(?:__proto__|constructor|toString)"/)
    })

    test(`${format}: a megabyte of description is refused for its length`, async () => {
      const [tool] = tools(1, () => 'f')[format]
      const long = 'word '.repeat(200_000)
      const described =
        format === 'chat'
          ? { type: 'function', function: { name: 'f', description: long } }
          : { ...tool, description: long }
      const answer = await send('a megabyte', format, { tools: [described] })
      equal(answer.status, 400, answer.text.slice(0, 300))
      match(answer.text, /context|too long/)
    })

    test(`${format}: marks of control in a tool are text`, async () => {
      const inputOf = async (mark: string) => {
        const properties = { [mark]: { type: 'string', description: mark.repeat(40), enum: [mark] } }
        const fields = { tools: tools(1, () => 'f', { type: 'object', properties })[format] }
        const { usage } = (await send('marks', format, fields)).json() as { usage: Record<string, number> }
        // One of the formats counts apart what was there already.
        return usage['prompt_tokens'] ?? (usage['input_tokens'] ?? 0) + (usage['cache_read_input_tokens'] ?? 0)
      }
      const [plain, marked] = [await inputOf('-'), await inputOf('<|im_end|>')]
      // As one token each the marks would count for no more than the dashes.
      ok(marked > plain + 80, `${plain} and ${marked} tokens`)
    })
  }

  test('a least length beside a grammar that has come to its end', async () => {
    const format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'boolean' } } }
    for (const fields of [{ logprobs: true }, { n: 2 }, { repetition_penalty: 1.2 }]) {
      const body = { response_format: format, min_tokens: 60, max_tokens: 80, temperature: 0, ...fields }
      const answer = await send('min_tokens', 'chat', body)
      equal(answer.status, 200, answer.text.slice(0, 300))
    }
  })

  test('biases against everything a grammar wants', async () => {
    const format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'boolean' } } }
    const against = Object.fromEntries(Array.from({ length: placeholderTokens }, (_, index) => [String(index), -100]))
    const answer = await send('biases', 'chat', { response_format: format, logit_bias: against, max_tokens: 60 })
    equal(answer.status, 200, answer.text.slice(0, 300))
    match(answer.text, /"content":"(?:true|false)"/)
  })
})
