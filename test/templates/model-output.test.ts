import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { deriveToolFormat } from '../../src/chat-format/tool-format/derive-tool-format.ts'
import { toTemplateCalls } from '../../src/chat-format/tool-format/to-template-calls.ts'
import type { ToolFormat } from '../../src/chat-format/tool-format/tool-format.ts'
import { writeTurn } from './conversations.ts'
import { readPieces } from './read.ts'
import { renderWith } from './render.ts'

const formatOf = (name: string): ToolFormat => {
  const source = readFileSync(join(import.meta.dirname, '../fixtures/templates', name), 'utf8')
  return deriveToolFormat(renderWith(source))!
}

const envelope = formatOf('json-envelope.jinja')
const marked = formatOf('marked-text.jinja')
const tagged = formatOf('tagged.jinja')

test('text that looks like a marker is text', () => {
  for (const text of ['a <cal', 'a <call>', 'say <call> and </call>', '<call>{"x": 1}</call>', 'x < y {', 'a <']) {
    const { text: shown, calls } = readPieces(envelope, text.split(''))
    assert.equal(calls.length, 0)
    // A complete marker at the very end is a call that was broken off.
    assert.equal(shown, text === 'a <call>' ? 'a' : text)
  }
})

test('white space, the order of members and a forgotten bracket are forgiven', () => {
  for (const output of [
    '<call>{"tool":"get_weather","input":{"place":"x"}}</call>',
    '<call>\n{ "input" : {"place":"x"} , "tool" : "get_weather", "id": "7" }\n</call>\n',
    '<call>{"tool":"get_weather","input":{"place":"x"}</call>',
  ]) {
    const { text, calls, openCalls } = readPieces(envelope, output.split(''))
    assert.deepEqual(
      { text, calls, openCalls },
      { text: '', calls: [{ name: 'get_weather', arguments: { place: 'x' } }], openCalls: 0 },
    )
  }
  const compact = '<run tool="get_weather"><set name="place">x</set></run> Done.'
  assert.deepEqual(readPieces(tagged, compact.split('')).calls, [{ name: 'get_weather', arguments: { place: 'x' } }])
  assert.equal(readPieces(tagged, compact.split('')).text, 'Done.')
})

test('values in tags take the type their schema gives them', () => {
  const output = [
    ['place', '12'],
    ['count', '12'],
    ['isExact', 'True'],
    ['nothing', 'None'],
    ['tags', '["a"]'],
    ['ratio', 'much'],
    ['unknown', '{"a": 1}'],
  ].map(([key, value]) => `<set name="${key}">${value}</set>`)
  const { calls } = readPieces(tagged, [`<run tool="get_weather">\n${output.join('\n')}\n</run>`])
  assert.deepEqual(calls[0]?.arguments, {
    place: '12',
    count: 12,
    isExact: true,
    nothing: null,
    tags: ['a'],
    ratio: 'much',
    unknown: { a: 1 },
  })
})

test('arguments that are no object reach a template that prints text as they are', () => {
  const turn = writeTurn({ text: '', calls: [{ name: 'a', arguments: {} }] }, null)
  const call = turn.tool_calls![0]!
  const broken = { ...turn, tool_calls: [{ ...call, function: { name: 'a', arguments: '{"x": ' } }] }
  assert.equal(toTemplateCalls(marked, [broken])[0]?.tool_calls?.[0]?.function.arguments, '{"x": ')
  assert.deepEqual(toTemplateCalls(tagged, [broken])[0]?.tool_calls?.[0]?.function.arguments, { arguments: '{"x": ' })
})
