import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileChatTemplate } from './chat-template.ts'
import { JinjaFault } from './jinja/interpreter.ts'
import { deriveToolFormat } from './tool-format/derive-tool-format.ts'

const compile = (source: string) => compileChatTemplate(source, { bosToken: '<s>', eosToken: '</s>' })
const options = { tools: null, addGenerationPrompt: true, enableThinking: null }

test('a template that knows content as a list of parts alone is given parts', () => {
  const template = compile(
    '{% for m in messages %}{% for part in m.content %}{% if part.type == "text" %}{{ part.text }}{% endif %}{% endfor %}{% endfor %}',
  )
  assert.equal(template.fault, null)
  assert.equal(template.render([{ role: 'user', content: 'Hello' }], options), 'Hello')
})

test('a template that walks the tools without asking is given an empty list', () => {
  const template = compile('{{ tools[0:1] | length }}{{ messages[0].content }}')
  assert.equal(template.fault, null)
  assert.equal(template.render([{ role: 'user', content: 'Hello' }], options), '0Hello')
})

const weather = { type: 'function', function: { name: 'get_weather', description: '', parameters: {} } }
const question = [{ role: 'user' as const, content: 'Hello' }]

test('a template that adds names of its own to a text is given tools, a day and empty texts under them', () => {
  const template = compile(
    '{% set head = "Tools: " + functions + " on " + datetime + footer %}{{ head }} {{ messages[0].content }}',
  )
  assert.equal(template.fault, null)
  const shown = (tools: readonly object[] | null) => template.render(question, { ...options, tools })
  assert.match(shown(null), /^Tools: \[\] on \d{4}-\d{2}-\d{2} Hello$/u)
  assert.match(shown([weather]), /^Tools: \[\n {4}\{[^]*"name": "get_weather"[^]*\] on /u)
})

test('a template that asks for the tools under another name gets them there, as the list or the text that it can show', () => {
  const listed =
    '{% if available_functions %}{% for f in available_functions %}{{ f.function.name }} {% endfor %}{% endif %}'
  const text = '{% if tools_json is defined %}{{ tools_json | trim }} {% endif %}'
  for (const start of [listed, text]) {
    const template = compile(`${start}{{ messages[0].content }}`)
    assert.equal(template.render(question, options), 'Hello')
    assert.match(template.render(question, { ...options, tools: [weather] }), /get_weather[^]* Hello$/u)
  }
})

test('a template that shows the tools under the usual name is given no other', () => {
  const template = compile(
    '{% if custom_tools is defined %}custom {% endif %}{% for t in tools or [] %}{{ t.function.name }} {% endfor %}{{ messages[0].content }}',
  )
  assert.equal(template.render(question, { ...options, tools: [weather] }), 'get_weather Hello')
})

const recipients =
  "{% for m in messages %}{% if m.role == 'assistant' %}{% if m.content is not none %}<|by|>assistant<|for|>all<|says|>" +
  '{{ m.content }}{% endif %}{% for c in m.tool_calls or [] %}{% if not loop.first or m.content is not none %}\n{% endif %}' +
  '<|by|>assistant<|for|>{{ c.function.name }}<|says|>{{ c.function.arguments }}{% endfor %}<|stop|>\n{% else %}' +
  '<|by|>{{ m.name or m.role }}<|for|>all<|says|>{{ m.content }}\n{% endif %}{% endfor %}' +
  '{% if add_generation_prompt %}<|by|>assistant<|for|>{% endif %}'

test('an empty text beside a call is passed as none where a template would write an empty answer around it', () => {
  const call = { id: 'a', type: 'function', function: { name: 'get_weather', arguments: '{}' } } as const
  const turn = { role: 'assistant' as const, content: '', tool_calls: [call] }
  const rendered = compile(recipients).render([...question, turn], { ...options, addGenerationPrompt: false })
  assert.equal(rendered, '<|by|>user<|for|>all<|says|>Hello\n<|by|>assistant<|for|>get_weather<|says|>{}<|stop|>\n')
})

test('a call goes on from the mark of its recipient, which the prompt ends with', () => {
  const template = compile(recipients)
  const format = deriveToolFormat(template.probe)
  assert.equal(format?.isGeneric, false)
  assert.deepEqual([format?.lead, format?.textOpen], ['<|for|>', '<|for|>all<|says|>'])
})

test('calls that begin with a brace, and are no JSON from there, are derived', () => {
  const template = compile(
    '{% for m in messages %}%{{ m.role }}%{{ m.content or "" }}{% for c in m.tool_calls or [] %}{use:{{ c.function.name }}:' +
      '{{ c.function.arguments | tojson }}:use}{% endfor %}%.%\n{% endfor %}{% if add_generation_prompt %}%assistant%{% endif %}',
  )
  const format = deriveToolFormat(template.probe)
  assert.deepEqual(format?.notation, {
    kind: 'marked',
    open: '{use:',
    close: ':use}',
    pieces: [{ kind: 'name' }, { kind: 'literal', text: ':' }, { kind: 'arguments' }],
  })
})

test('what is found out of a template that tells the time does not hang on the seconds in which it is tried', (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-05-04T23:59:58Z') })
  const template = compile(
    "{{ strftime_now('%Y-%m-%d %H:%M:%S') }}|{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}" +
      "{% for c in m.tool_calls or [] %}<call>{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}</call>{% endfor %}" +
      '<end>{% endfor %}{{ tools | tojson if tools }}{% if add_generation_prompt %}<assistant>{% endif %}',
  )
  const format = deriveToolFormat((messages, given) => {
    t.mock.timers.tick(1_000)
    return template.probe(messages, given)
  })
  assert.deepEqual([format?.isGeneric, format?.notation.kind], [false, 'envelope'])
  t.mock.timers.setTime(new Date(2026, 4, 4, 13, 14, 15).getTime())
  assert.match(template.render(question, options), /^2026-05-04 13:14:15\|<user>Hello<end>/u)
})

test('a template that renders no question says why, and in which line', () => {
  assert.match(compile('one\n{{ messages[0].content.missing() }}').fault ?? '', /^Line 2: /u)
  assert.equal(compile('constant').fault, 'It leaves out what the user says.')
})

test('a template that cannot be parsed names the line', () => {
  const fault = (source: string) => {
    try {
      compile(source)
    } catch (error) {
      return error
    }
    return null
  }
  const found = fault('one\n{% if a %}\ntwo {% endif %}\n{{ a b }}\n')
  assert.ok(found instanceof JinjaFault)
  assert.equal(found.line, 4)
})

test('a template that knows a budget or an effort is told how much the model may think', () => {
  const template = compile(
    "{{ messages[0].content }} {{ reasoning_effort | default('none said') }} {{ thinking_budget | default('no budget') }}",
  )
  const shown = (enableThinking: boolean | null, thinkingTokensMax?: number | null) =>
    template.render([{ role: 'user', content: 'Hello' }], {
      ...options,
      enableThinking,
      ...(thinkingTokensMax !== undefined && { thinkingTokensMax }),
    })
  assert.equal(shown(true, 1_024), 'Hello low 1024')
  assert.equal(shown(true, 8_192), 'Hello medium 8192')
  assert.equal(shown(true, 32_768), 'Hello high 32768')
  assert.equal(shown(true, null), 'Hello high no budget')
  assert.equal(shown(true), 'Hello none said no budget')
  assert.equal(shown(false, 1_024), 'Hello none said 0')
  assert.equal(shown(null, 1_024), 'Hello none said no budget')
})

test('a template is told of an effort in a word that it takes, and switched off by the one that it has for that', () => {
  const template = compile(
    "{% set effort = reasoning_effort | default('no_think') %}" +
      "{% if effort not in ['no_think', 'max'] %}{{ raise_exception('unknown effort') }}{% endif %}" +
      "{{ messages[0].content }}<by>{% if effort == 'no_think' %}<muse></muse>{% else %}<muse>{% endif %}",
  )
  const shown = (enableThinking: boolean | null, thinkingTokensMax?: number) =>
    template.render(question, {
      ...options,
      enableThinking,
      ...(thinkingTokensMax !== undefined && { thinkingTokensMax }),
    })
  assert.equal(shown(null), 'Hello<by><muse></muse>')
  assert.equal(shown(false), 'Hello<by><muse></muse>')
  // The effort is the only switch.
  assert.equal(shown(true), 'Hello<by><muse>')
  assert.equal(shown(true, 1_024), 'Hello<by><muse>')
})

test('a template that refuses to be switched off is asked for what it does by itself', () => {
  const template = compile(
    "{% if enable_thinking is defined and not enable_thinking %}{{ raise_exception('always on') }}{% endif %}{{ messages[0].content }}",
  )
  assert.equal(template.render(question, { ...options, enableThinking: false }), 'Hello')
})

const thought = { role: 'assistant' as const, content: 'An answer.', reasoning_content: 'A thought.' }

test('thinking is passed as a part or a block of the content where a template looks for it there', () => {
  const turn = "{% for m in messages %}{% if m.role == 'assistant' %}"
  const inParts =
    `${turn}{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}` +
    "{{ '[MUSE]' ~ p.thinking ~ '[/MUSE]' if p.type == 'thinking' else p.text }}{% endfor %}{% endif %}" +
    '{% else %}{{ m.content }}|{% endif %}{% endfor %}'
  const inBlocks =
    `${turn}{% for b in m.content.blocks %}{{ '[MUSE]' ~ b.text ~ '[/MUSE]' if b.type == 'thoughts' else b.text }}{% endfor %}` +
    '{% else %}{{ m.content }}|{% endif %}{% endfor %}'
  const inMembers = `${turn}{% if m.reasoning_content %}[MUSE]{{ m.reasoning_content }}[/MUSE]{% endif %}{% endif %}{{ m.content }}{{ '|' if m.role == 'user' }}{% endfor %}`
  for (const source of [inParts, inBlocks, inMembers]) {
    const rendered = compile(source).render([...question, thought], { ...options, addGenerationPrompt: false })
    assert.equal(rendered, 'Hello|[MUSE]A thought.[/MUSE]An answer.')
  }
})

test('a turn with thinking is a plain text to a template that prints whatever it is given', () => {
  const template = compile('{% for m in messages %}{{ m.content }}|{% endfor %}')
  assert.equal(template.render([...question, thought], options), 'Hello|An answer.|')
})

test('a template that knows calls without a function inside is given them so', () => {
  const template = compile(
    "{% for m in messages %}{{ m.content }}|{% for c in m.tool_calls or [] %}{{ '<run ' + c.name + '>' }}{{ c.arguments | tojson }}{% endfor %}{% endfor %}",
  )
  const call = { id: 'a', type: 'function', function: { name: 'get_weather', arguments: { place: 'Oslo' } } } as const
  const turn = { role: 'assistant' as const, content: '', tool_calls: [call] }
  const rendered = template.render([...question, turn], { ...options, addGenerationPrompt: false })
  assert.equal(rendered, 'Hello||<run get_weather>{"place": "Oslo"}')
})

test('a template that wants a turn with the tools in front of the question gets one behind the system text', () => {
  const template = compile(
    "{% set at = 1 if messages[0].role == 'system' else 0 %}{% if messages[at].role != 'functions' %}" +
      "{{ raise_exception('Expected functions') }}{% endif %}{% for m in messages %}{{ m.role }}: {{ m.content }}|{% endfor %}",
  )
  const system = { role: 'system' as const, content: 'Be brief.' }
  assert.equal(template.fault, null)
  assert.equal(template.render(question, options), 'functions: []|user: Hello|')
  const rendered = template.render([system, ...question], { ...options, tools: [weather] })
  assert.match(rendered, /^system: Be brief\.\|functions: \[\n {4}\{[^]*"name": "get_weather"[^]*\]\|user: Hello\|$/u)
})
