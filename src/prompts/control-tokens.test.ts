import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createControlTokens } from './control-tokens.ts'

const tokens = createControlTokens([
  { text: '<|start|>', token: 1, isReserved: true },
  { text: '<|end|>', token: 2, isReserved: true },
  { text: '<|end|><|end|>', token: 3, isReserved: true },
  { text: '[a.b]', token: 4, isReserved: true },
  { text: '<table>', token: 5, isReserved: false },
])

test('a client cannot write a reserved token, and its text comes through unchanged', () => {
  const units = ['<', '|', 'start', 'end', '>', '<|start|>', '[a.b]', 'é', '\ufdd0']
  const text = fc.string({ unit: fc.constantFrom(...units), maxLength: 12 })
  fc.assert(
    fc.property(text, (content) => {
      const marker = tokens.chooseMarker([content])
      const pieces = tokens.split(`<|start|>${tokens.protect(content, marker)}<|end|>`, marker)
      assert.deepEqual(pieces.at(0), { kind: 'special', token: 1 })
      assert.deepEqual(pieces.at(-1), { kind: 'special', token: 2 })
      const between = pieces.slice(1, -1)
      assert.ok(between.every(({ kind }) => kind === 'text'))
      assert.equal(between.map((piece) => (piece.kind === 'text' ? piece.text : '')).join(''), content)
    }),
  )
})

test('a special token without a meaning of its own is a client’s to write', () => {
  assert.deepEqual(tokens.split(tokens.protect('a<table>', '\ufdd0'), '\ufdd0'), [
    { kind: 'text', text: 'a' },
    { kind: 'special', token: 5 },
  ])
})

test('the longest token wins and special characters are literal', () => {
  assert.deepEqual(tokens.split('x<|end|><|end|>[a.b][aXb]', '\ufdd0'), [
    { kind: 'text', text: 'x' },
    { kind: 'special', token: 3 },
    { kind: 'special', token: 4 },
    { kind: 'text', text: '[aXb]' },
  ])
})

test('a vocabulary without special tokens leaves everything text', () => {
  const none = createControlTokens([])
  assert.equal(none.protect('<|start|>', '\ufdd0'), '<|start|>')
  assert.deepEqual(none.split('a<|start|>', '\ufdd0'), [{ kind: 'text', text: 'a<|start|>' }])
})
