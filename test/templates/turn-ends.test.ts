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
