import assert from 'node:assert/strict'
import { it } from 'node:test'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import { createRandom } from '../campaigns/random.ts'
import { checkSynthetic } from './check-synthetic.ts'
import { renderWith } from './render.ts'
import { synthesize } from './synthetic.ts'

const templateCount = 200

it(`derives ${templateCount} made-up notations, whose calls come back as they went in`, () => {
  const refused: string[] = []
  const counts = new Map<string, number>()
  for (let number = 0; number < templateCount; number++) {
    const random = createRandom(20_260, number)
    const { family, source } = synthesize(random)
    const format = checkSynthetic(source)
    if (format === null || format.isGeneric) refused.push(`${number}: ${family}`)
    else counts.set(format.notation.kind, (counts.get(format.notation.kind) ?? 0) + 1)
  }
  assert.deepEqual(refused, [])
  assert.deepEqual([...counts.keys()].toSorted(), ['envelope', 'marked', 'tagged'])
})

it('gives templates that lose, garble or refuse calls the generic format, and never throws', () => {
  const lines = (call: string) =>
    `{%- for message in messages %}<{{ message.role }}>{{ message.content }}${call}{% endfor %}`
  const silent = ['', 'constant', '{{ raise_exception("no") }}', '{{ messages[0].content }}']
  const odd = [
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
  for (const source of silent) assert.equal(deriveToolFormat(renderWith(source)), null, source)
  for (const source of odd) assert.equal(deriveToolFormat(renderWith(source))?.isGeneric, true, source)
})
