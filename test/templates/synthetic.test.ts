import assert from 'node:assert/strict'
import { it } from 'node:test'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import { toTemplateCalls } from '../../src/chat-format/tool-format/to-template-calls.ts'
import type { TemplateToolMessage } from '../../src/chat-format/tool-format/tool-format.ts'
import { createRandom } from '../campaigns/random.ts'
import { declarations, turns, writeTurn } from './conversations.ts'
import { readPieces } from './read.ts'
import { renderWith } from './render.ts'
import { synthesize } from './synthetic.ts'

const templateCount = 200

it(`derives ${templateCount} made-up notations, whose calls come back as they went in`, () => {
  const refused: string[] = []
  const counts = new Map<string, number>()
  for (let number = 0; number < templateCount; number++) {
    const random = createRandom(20_260, number)
    const { family, source } = synthesize(random)
    const render = renderWith(source)
    const format = deriveToolFormat(render)
    if (format === null) {
      refused.push(`${number}: ${family}`)
      continue
    }
    counts.set(format.notation.kind, (counts.get(format.notation.kind) ?? 0) + 1)
    const user: TemplateToolMessage = { role: 'user', content: 'Please help.' }
    for (const turn of turns.filter(({ calls }) => calls.length > 0)) {
      const options = { tools: declarations, addGenerationPrompt: false, enableThinking: null }
      const rendered = render([user, ...toTemplateCalls(format, [writeTurn(turn, null)])], options)
      const text = 'Xqwzplain'
      const plain = render([user, { role: 'assistant', content: text }], options)
      const [before = '', after = ''] = plain.split(text)
      const output = rendered.slice(before.length, rendered.length - after.length)
      const cut = random.integer(1, output.length - 1)
      for (const pieces of [[output], [output.slice(0, cut), output.slice(cut)], output.split('')]) {
        const read = readPieces(format, pieces)
        assert.deepEqual(
          { text: read.text, calls: read.calls },
          { text: turn.text, calls: turn.calls },
          `${number}: ${output}`,
        )
        assert.equal(read.openCalls, 0)
      }
    }
  }
  assert.deepEqual(refused, [])
  assert.deepEqual([...counts.keys()].toSorted(), ['envelope', 'marked', 'tagged'])
})

it('refuses templates that lose, garble or refuse calls, and never throws', () => {
  const lines = (call: string) =>
    `{%- for message in messages %}<{{ message.role }}>{{ message.content }}${call}{% endfor %}`
  const odd = [
    '',
    'constant',
    '{{ raise_exception("no") }}',
    '{{ messages[0].content }}',
    lines(''),
    lines('{% if message.tool_calls %}{{ raise_exception("no") }}{% endif %}'),
    lines('{% for call in message.tool_calls or [] %}<c>{{ call.function.name }}</c>{% endfor %}'),
    lines(
      '{% for call in message.tool_calls or [] %}<c>{{ call.function.name }} {{ call.function.arguments | length }}</c>{% endfor %}',
    ),
    lines(
      '{% for call in message.tool_calls or [] %}<c>{{ call.function.name }} {{ call.function.arguments | tojson | upper }}</c>{% endfor %}',
    ),
    lines(
      '{% for call in message.tool_calls or [] %}<c>{{ call.function.name }} {{ call.function.arguments | tojson | tojson | tojson }}</c>{% endfor %}',
    ),
  ]
  for (const source of odd) assert.equal(deriveToolFormat(renderWith(source)), null, source)
})
