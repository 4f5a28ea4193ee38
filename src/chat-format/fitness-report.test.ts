import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileChatTemplate } from './chat-template.ts'
import { describeFitness, reportFitness } from './fitness-report.ts'
import { probeTemplate } from './probe-template.ts'
import { deriveToolFormat } from './tool-format/derive-tool-format.ts'

const report = (source: string) => {
  const template = compileChatTemplate(source, { bosToken: '<s>', eosToken: '</s>' })
  const toolFormat = deriveToolFormat(template.probe)
  return reportFitness({ template, traits: probeTemplate(template), toolFormat })
}

const turn = "{{ '<' ~ m.role ~ '>' ~ m.content }}"
const call =
  '{% for c in m.tool_calls or [] %}[CALL]{{ c.function.name }}[WITH]{{ c.function.arguments | tojson }}{% endfor %}'
const end = '</turn>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}'

test('the notation of a template is shown with a call in it', () => {
  const { tools, notation, exampleCall } = report(`{% for m in messages %}${turn}${call}${end}`)
  assert.deepEqual({ tools, notation }, { tools: 'own', notation: 'marked' })
  assert.equal(exampleCall, '[CALL]get_weather[WITH]{"place": "Oslo", "days": 3}')
})

test('a template without a place for tools is said to have the generic format', () => {
  const found = report(`{% for m in messages %}${turn}${end}`)
  assert.equal(found.tools, 'generic')
  assert.deepEqual(found.history, { calls: 'written into the text of the turn', results: 'as user turns' })
  const lines = describeFitness(found)
  assert.ok(lines.includes('Tools: generic, described in the system text'))
  assert.ok(lines.some((line) => line.includes('{"name": "get_weather", "arguments": {"place": "Oslo", "days": 3}}')))
})
