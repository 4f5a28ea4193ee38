import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deriveThinking } from '../../src/chat-format/probe-template.ts'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
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

test('bare keys are known where a template sorts them and takes no text for arguments', () => {
  const argument = `{%- macro write(value) %}{%- if value is none %}{{- 'null' }}{%- elif value is string %}{{- '<|"|>' ~ value ~ '<|"|>' }}
    {%- elif value is boolean %}{{- 'true' if value else 'false' }}{%- elif value is mapping %}{{- '{' }}
    {%- for key, one in value | dictsort %}{{- ',' if not loop.first }}{{- key ~ ':' ~ write(one) }}{%- endfor %}{{- '}' }}
    {%- elif value is sequence %}{{- '[' }}{%- for one in value %}{{- ',' if not loop.first }}{{- write(one) }}{%- endfor %}{{- ']' }}
    {%- else %}{{- value }}{%- endif %}{%- endmacro %}`
  const source = `${argument}${tools}{%- for message in messages %}{{- '<|turn>' ~ message.role ~ '\n' ~ (message.content or '') }}
    {%- for call in message.tool_calls or [] %}
    {%- if call.function.arguments is not mapping %}{{- raise_exception('arguments must be a mapping') }}{%- endif %}
    {{- '<|tool_call>call:' ~ call.function.name ~ write(call.function.arguments) ~ '<tool_call|>' }}{%- endfor %}
    {{- '<turn|>\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|turn>assistant\n' }}{%- endif %}`
  const format = deriveToolFormat(renderWith(source))
  assert.deepEqual([format?.notation.kind, format?.history.argumentsAs], ['bare-keys', 'object'])
})
