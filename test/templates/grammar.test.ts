import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import type { Tool } from '../../src/core/generation.ts'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import { textThrough, type GrammarTool } from '../../src/chat-format/tool-format/grammar-parts.ts'
import { toTemplateCalls } from '../../src/chat-format/tool-format/to-template-calls.ts'
import { toolCallGrammar, triggers } from '../../src/chat-format/tool-format/tool-grammar.ts'
import type { RenderProbe } from '../../src/chat-format/tool-format/tool-format.ts'
import { declarations, writeTurn, type Call } from './conversations.ts'
import { createRegexGrammar } from './regex-grammar.ts'
import { instructionsIn, renderIn, renderWith } from './render.ts'
import { templateFiles } from './template-files.ts'

const parameters = {
  type: 'object',
  properties: { place: { type: 'string' }, count: { type: 'integer' }, unit: { type: 'string', enum: ['C', 'F'] } },
  required: ['place'],
}
const tool: Tool = { name: 'get_weather', description: '', parameters, isStrict: false, schemaPath: [], input: 'json' }
const grammarTool: GrammarTool = {
  tool,
  argumentsRule: String.raw`"\x7B" [^\x7B\x7D]* "\x7D"`,
  compileSchema: (schema) => (schema['type'] === 'integer' ? '[0-9]+' : String.raw`"\x22" [^"]* "\x22"`),
  compileText: () => null,
}

/** What a template writes behind a plain answer and at least the end of which is behind the rendered one, and no part of either. */
function behindAnswer(render: RenderProbe, rendered: string): string {
  const options = { tools: declarations, addGenerationPrompt: false, enableThinking: null }
  const text = 'Xqwzplain'
  const plain = render(
    [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: text },
    ],
    options,
  )
  const after = plain.slice(plain.lastIndexOf(text) + text.length)
  const question = render([{ role: 'user', content: 'q' }], options)
  return rendered.endsWith(after) ? after : instructionsIn([rendered, plain, question])
}

/** Where an answer begins in a rendered conversation; a template may end each one with the beginning of an answer. */
function answerStart(render: RenderProbe, rendered: string): number {
  const options = { tools: declarations, addGenerationPrompt: false, enableThinking: null }
  const question = render([{ role: 'user', content: 'q' }], options)
  const shared = question.split('').findIndex((character, index) => character !== rendered[index])
  return (shared === -1 ? question.length : shared) - 2
}

describe('a grammar accepts what the template writes, beginning with a trigger', () => {
  for (const { name, source } of templateFiles) {
    const plainRender = renderWith(source)
    const format = deriveToolFormat(plainRender)
    if (format === null) continue
    const render = renderIn(format, plainRender)
    it(name, (t) => {
      const { builder, toRegex } = createRegexGrammar()
      const begins = 'at-trigger'
      const regex = toRegex(toolCallGrammar(builder, format, [grammarTool], { minCalls: 1, maxCalls: null, begins }))
      const single = toRegex(toolCallGrammar(builder, format, [grammarTool], { minCalls: 1, maxCalls: 1, begins }))
      const maybe = toRegex(toolCallGrammar(builder, format, [grammarTool], { minCalls: 0, maxCalls: null }))
      assert.ok(maybe.test(''))
      // A Harmony template shows the model another order of the header than the model itself writes.
      if (format.notation.kind === 'harmony') return t.diagnostic('rendered in another order')
      const one: Call = { name: 'get_weather', arguments: { place: 'Oslo <b> < </p', count: 3, unit: 'C' } }
      const sets =
        format.callsMax === 1 ? [[one]] : [[one], [one, { name: 'get_weather', arguments: { place: 'x'.repeat(60) } }]]
      for (const calls of sets) {
        const options = { tools: declarations, addGenerationPrompt: false, enableThinking: null }
        const turn = toTemplateCalls(format, [writeTurn({ text: '', calls }, null)])
        const rendered = render([{ role: 'user', content: 'q' }, ...turn], options)
        const trigger = triggers(format, [tool])[0]!
        const start = answerStart(render, rendered)
        // What only the last question is told makes a prompt longer than the conversation that goes on from it.
        const first = rendered.indexOf(trigger, rendered.indexOf(trigger, start) === -1 ? 0 : start)
        const end = rendered.length - behindAnswer(render, rendered).length
        const ends = Array.from({ length: 40 }, (_, back) => rendered.slice(first, end - back))
        assert.ok(
          ends.some((output) => regex.test(output)),
          `${rendered.slice(first)}\n${regex.source}`,
        )
        assert.equal(
          ends.some((output) => single.test(output)),
          calls.length === 1,
        )
      }
    })
  }
})

test('free text ends with its first marker', () => {
  for (const marker of ['</p>', 'ab', 'x', '</a></b>', '<｜end｜>', '\n--']) {
    const { toRegex } = createRegexGrammar()
    const regex = toRegex(textThrough(marker))
    const head = marker[0]!
    for (const text of [
      '',
      'plain',
      head,
      head + head,
      marker.slice(0, 2) === marker ? '' : marker.slice(0, 2),
      `${head}q${head}`,
    ]) {
      if (`${text}${marker}`.indexOf(marker) !== text.length) continue
      assert.ok(regex.test(text + marker), JSON.stringify(text + marker))
      assert.ok(!regex.test(`${text}${marker}tail${marker}`), JSON.stringify(text))
      assert.ok(!regex.test(text))
    }
  }
})
