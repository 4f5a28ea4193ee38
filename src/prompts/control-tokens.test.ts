import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createControlTokens } from './control-tokens.ts'

const tokens = createControlTokens(
  new Map([
    ['<|start|>', 1],
    ['<|end|>', 2],
    ['<|end|><|end|>', 3],
    ['[a.b]', 4],
  ]),
)

test('a client cannot write a control token, and its text comes through unchanged', () => {
  const text = fc.string({
    unit: fc.constantFrom('<', '|', 'start', 'end', '>', '<|start|>', '[a.b]', 'é', '\ufdd0'),
    maxLength: 12,
  })
  fc.assert(
    fc.property(text, (content) => {
      const marker = tokens.chooseMarker([content])
      const pieces = tokens.split(`<|start|>${tokens.protect(content, marker)}<|end|>`, marker)
      assert.deepEqual(pieces.at(0), { kind: 'control', token: 1 })
      assert.deepEqual(pieces.at(-1), { kind: 'control', token: 2 })
      const between = pieces.slice(1, -1)
      assert.ok(between.every(({ kind }) => kind === 'text'))
      assert.equal(between.map((piece) => (piece.kind === 'text' ? piece.text : '')).join(''), content)
    }),
  )
})

test('the longest token wins and special characters are literal', () => {
  assert.deepEqual(tokens.split('x<|end|><|end|>[a.b][aXb]', '\ufdd0'), [
    { kind: 'text', text: 'x' },
    { kind: 'control', token: 3 },
    { kind: 'control', token: 4 },
    { kind: 'text', text: '[aXb]' },
  ])
})

test('a vocabulary without control tokens leaves everything text', () => {
  const none = createControlTokens(new Map())
  assert.equal(none.protect('<|start|>', '\ufdd0'), '<|start|>')
  assert.deepEqual(none.split('a<|start|>', '\ufdd0'), [{ kind: 'text', text: 'a<|start|>' }])
})
