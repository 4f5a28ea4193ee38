import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deriveThinking } from '../../src/chat-format/probe-template.ts'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import { readPieces } from './read.ts'
import { renderWith } from './render.ts'

const tools = `{%- for tool in tools or [] %}{{- tool | tojson }}{% endfor %}`
const calls = `{%- for call in message.tool_calls %}{{- '{"name": "' ~ call.function.name ~ '", "arguments": ' ~ (call.function.arguments | tojson) ~ '}' }}{{- ', ' if not loop.last }}{%- endfor %}`

test('an opening marker of thinking ends where the prompt does, which names the role', () => {
  const source = `${tools}{%- for message in messages %}{%- if message.role == 'assistant' %}
    {%- if message.reasoning_content and message.tool_calls %}{{- '<|begin|>assistant<|think|>' ~ message.reasoning_content ~ '<|end|>' }}{%- endif %}
    {%- if message.tool_calls %}{{- '<|begin|>assistant<|calls|>' }}${calls}{{- '<|done|>' }}
    {%- else %}{{- '<|begin|>assistant<|content|>' ~ message.content ~ '<|end|>' }}{%- endif %}
    {%- else %}{{- '<|begin|>' ~ message.role ~ '<|content|>' ~ message.content ~ '<|end|>' }}{%- endif %}{%- endfor %}
    {%- if add_generation_prompt %}{{- '<|begin|>assistant' }}{%- endif %}`
  const { tags, promptOpens } = deriveThinking(renderWith(source))
  assert.deepEqual(
    { tags, promptOpens },
    { tags: { open: '<|think|>', close: '<|end|><|begin|>assistant' }, promptOpens: false },
  )
})

test('an end of the turn that is written twice behind calls is no part of them', () => {
  const source = `${tools}{%- for message in messages %}{{- '<|' ~ message.role ~ '|>' }}
    {%- if message.content %}{{- message.content }}{%- endif %}
    {%- if message.tool_calls %}{{- '<calls>[' }}${calls}{{- ']</calls><|stop|>\\n' }}{%- endif %}{{- '\\n<|stop|>\\n' }}{%- endfor %}
    {%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}`
  assert.equal(deriveToolFormat(renderWith(source))?.section.close, ']</calls>')
})

test('instructions that end each conversation are no part of calls', () => {
  const instructions = "'<|system|>Write calls as a list, please, and nothing else.<|stop|>'"
  const source = `${tools}{%- for message in messages %}{{- '<|' ~ message.role ~ '|>' ~ (message.content or '') }}
    {%- if message.tool_calls %}{{- 'Calls:\\n[' }}${calls}{{- ']\\n' }}{%- else %}{{- '<|stop|>' }}{%- endif %}{%- endfor %}
    {{- ${instructions} }}{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}`
  const format = deriveToolFormat(renderWith(source))
  assert.deepEqual([format?.isGeneric, format?.section], [false, { open: 'Calls:\n[', close: ']\n' }])
})

test('text and calls are turns of their own where a template shows either, and declares the tools in front', () => {
  const source = `${tools}{%- for message in messages %}{{- '<|' ~ message.role ~ '|>' }}
    {%- if message.content %}{{- message.content }}{%- elif message.tool_calls %}{{- '<calls>[' }}${calls}{{- ']</calls>' }}{%- endif %}
    {{- '<|stop|>' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}`
  assert.equal(deriveToolFormat(renderWith(source))?.history.textBesideCalls, 'own')
})

test('bare calls that a template writes right behind a text are given a turn of their own', () => {
  const source = `${tools}{%- for message in messages %}{%- if message.role == 'assistant' %}
    {{- ('\n' if message.tool_calls else '') ~ '<|begin|>assistant<|end|>\n\n' ~ (message.content or '') }}
    {%- if message.tool_calls %}${calls.replace("{{- ', ' if not loop.last }}", '')}{%- endif %}{{- '<|stop|>' }}
    {%- else %}{{- '<|begin|>' ~ message.role ~ '<|end|>\n\n' ~ message.content ~ '<|stop|>' }}{%- endif %}{%- endfor %}
    {%- if add_generation_prompt %}{{- '\n<|begin|>assistant<|end|>\n\n' }}{%- endif %}`
  const format = deriveToolFormat(renderWith(source))
  // What the prompt ends with is no part of a call.
  assert.deepEqual([format?.section.open, format?.history.textBesideCalls], ['', 'own'])
})

test('bare keys are known by whatever quotes and markers, where a template sorts them and takes no text for arguments', () => {
  for (const [quote, open, close] of [
    ['<|"|>', '<|tool_call>call:', '<tool_call|>'],
    ['<escape>', '<start_function_call>call:', '<end_function_call>'],
    ['<q>', '<do>', '</do>'],
  ] as const) {
    const argument = `{%- macro write(value) %}{%- if value is none %}{{- 'null' }}{%- elif value is string %}{{- '${quote}' ~ value ~ '${quote}' }}
    {%- elif value is boolean %}{{- 'true' if value else 'false' }}{%- elif value is mapping %}{{- '{' }}
    {%- for key, one in value | dictsort %}{{- ',' if not loop.first }}{{- key ~ ':' ~ write(one) }}{%- endfor %}{{- '}' }}
    {%- elif value is sequence %}{{- '[' }}{%- for one in value %}{{- ',' if not loop.first }}{{- write(one) }}{%- endfor %}{{- ']' }}
    {%- else %}{{- value }}{%- endif %}{%- endmacro %}`
    const source = `${argument}${tools}{%- for message in messages %}{{- '<|turn>' ~ message.role ~ '\n' ~ (message.content or '') }}
    {%- for call in message.tool_calls or [] %}
    {%- if call.function.arguments is not mapping %}{{- raise_exception('arguments must be a mapping') }}{%- endif %}
    {{- '${open}' ~ call.function.name ~ write(call.function.arguments) ~ '${close}' }}{%- endfor %}
    {{- '<turn|>\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|turn>assistant\n' }}{%- endif %}`
    const format = deriveToolFormat(renderWith(source))
    assert.deepEqual([format?.notation, format?.history.argumentsAs], [{ kind: 'bare-keys', quote }, 'object'])
    assert.deepEqual(format?.section, { open, close })
  }
})

test('Harmony is known in an early template, which names no channel in front of a plain answer', () => {
  const source = `{{- '<|start|>system<|message|># Valid channels: analysis, commentary, final.<|end|>' }}
    {%- for message in messages %}{%- if message.role == 'assistant' %}{%- if message.tool_calls %}
    {{- '<|start|>assistant to=functions.' ~ message.tool_calls[0].name ~ '<|channel|>commentary json<|message|>' }}
    {{- message.tool_calls[0].arguments | tojson }}{{- '<|call|>' }}
    {%- else %}{{- '<|start|>assistant<|message|>' ~ message.content ~ '<|end|>' }}{%- endif %}
    {%- else %}{{- '<|start|>' ~ message.role ~ '<|message|>' ~ message.content ~ '<|end|>' }}{%- endif %}{%- endfor %}
    {%- if add_generation_prompt %}{{- '<|start|>assistant' }}{%- endif %}`
  const format = deriveToolFormat(renderWith(source))
  assert.equal(format?.notation.kind, 'harmony')
  assert.equal(readPieces(format, ['<|mess', 'age|>Hel', 'lo<|end|>']).text, 'Hello')
})

test('a template that shows no last turn of the model gets the generic format', () => {
  const source = `{%- for message in messages %}{%- if message.role != 'assistant' or not loop.last %}
    {{- message.role ~ ': ' ~ message.content ~ '\n' }}{%- endif %}{%- if loop.last %}{{- 'assistant:' }}{%- endif %}{%- endfor %}`
  assert.equal(deriveToolFormat(renderWith(source))?.isGeneric, true)
})
