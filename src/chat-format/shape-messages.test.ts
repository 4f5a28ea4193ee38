import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, test } from 'node:test'
import type { Message } from '../core/generation.ts'
import { compileChatTemplate } from './chat-template.ts'
import { probeTemplate, type TemplateTraits } from './probe-template.ts'
import { plainSchema, shapeMessages, withProperties } from './shape-messages.ts'

const text = (role: 'system' | 'user' | 'assistant', ...texts: string[]): Message =>
  ({ role, content: texts.map((part) => ({ kind: 'text', text: part })) }) as Message

const traits: TemplateTraits = {
  takesSystem: true,
  takesLateSystem: false,
  thinkingTags: null,
  thinkingSwitch: 'none',
}

test('the leading system messages become one', () => {
  assert.deepEqual(shapeMessages([text('system', 'a', 'b'), text('system', 'c'), text('user', 'd')], traits), [
    { role: 'system', content: 'a\nb\n\nc' },
    { role: 'user', content: 'd' },
  ])
})

test('a later system message joins the next user turn, or stays where the template takes it', () => {
  const messages = [text('user', 'a'), text('assistant', 'b'), text('system', 'c'), text('user', 'd')]
  assert.deepEqual(shapeMessages(messages, traits).at(-1), { role: 'user', content: '<system>\nc\n</system>\n\nd' })
  assert.deepEqual(shapeMessages(messages, { ...traits, takesLateSystem: true }).slice(2), [
    { role: 'system', content: 'c' },
    { role: 'user', content: 'd' },
  ])
})

test('without a system role its text opens the first user turn', () => {
  assert.deepEqual(shapeMessages([text('system', 'a'), text('user', 'b')], { ...traits, takesSystem: false }), [
    { role: 'user', content: 'a\n\nb' },
  ])
})

test('neighbours of one role are merged, thinking with thinking', () => {
  const turn: Message = {
    role: 'assistant',
    content: [
      { kind: 'thinking', text: 'hm' },
      { kind: 'text', text: 'b' },
    ],
  }
  assert.deepEqual(shapeMessages([text('user', 'a'), turn, text('assistant', 'c')], traits), [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b\n\nc', reasoning_content: 'hm' },
  ])
})

const folder = join(import.meta.dirname, '../../../shared/templates')
const templates = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jinja')) : []

describe(`templates of open models${templates.length === 0 ? ' (none at hand: shared/templates is absent)' : ''}`, () => {
  const conversation = [
    text('system', 'first-system'),
    text('user', 'first-user'),
    text('user', 'second-user'),
    text('assistant', 'first-assistant'),
    text('system', 'late-system'),
    text('user', 'third-user'),
  ]
  for (const name of templates) {
    it(`${name} keeps every text of a difficult conversation, in order`, () => {
      const template = compileChatTemplate(readFileSync(join(folder, name), 'utf8'), {
        bosToken: '<s>',
        eosToken: '</s>',
      })
      const shaped = shapeMessages(conversation, probeTemplate(template))
      const rendered = template.render(shaped, {
        tools: null,
        addGenerationPrompt: true,
        enableThinking: false,
      })
      // A template may have its own place for the system text; the turns must keep their order.
      assert.ok(rendered.includes('first-system'))
      let position = 0
      for (const expected of ['first-user', 'second-user', 'first-assistant', 'late-system', 'third-user']) {
        const found = rendered.indexOf(expected, position)
        assert.notEqual(found, -1, expected)
        position = found
      }
    })
  }
})

test('a list of types becomes its first that is not null, at any depth', () => {
  const given = {
    type: 'object',
    properties: { a: { type: ['null', 'string'] }, b: { items: [{ type: ['integer'] }] } },
  }
  const plain = { type: 'object', properties: { a: { type: 'string' }, b: { items: [{ type: 'integer' }] } } }
  assert.deepEqual(plainSchema(given), plain)
})

test('a property that is called type keeps its schema', () => {
  const schema = { type: 'object', properties: { type: { type: 'string' } } }
  assert.deepEqual(plainSchema(schema), schema)
})

test('a tool without parameters has an empty list of properties', () => {
  assert.deepEqual(withProperties({}), { type: 'object', properties: {} })
})
