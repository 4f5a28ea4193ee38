import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createControlTokens, type PromptPiece, type SpecialToken } from './control-tokens.ts'

const special: readonly SpecialToken[] = [
  { text: '<|start|>', token: 1, isReserved: true },
  { text: '<|end|>', token: 2, isReserved: true },
  { text: '<|end|><|end|>', token: 3, isReserved: true },
  { text: '[a.b]', token: 4, isReserved: true },
  { text: '<table>', token: 5, isReserved: false },
  { text: '|>[a', token: 6, isReserved: true },
  { text: 'EOD', token: 7, isReserved: true },
  { text: '<a>', token: 8, isReserved: true },
]
const tokens = createControlTokens(special, "<|start|>{{ '<' + key + '>' }}<|end|>")

const textOf = (pieces: readonly PromptPiece[]) =>
  pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('')
const idsOf = (pieces: readonly PromptPiece[]) =>
  pieces.flatMap((piece) => (piece.kind === 'special' ? [piece.token] : []))

const units = ['<', '|', 'start', 'end', '>', '<|start|>', '[a.b]', '[', 'EO', 'D', 'é', '👩', ' ', '\\ufdd2', '\\']
const nonCharacters = Array.from({ length: 32 }, (_, index) => String.fromCharCode(0xfdd0 + index))
const clientText = fc.string({ unit: fc.constantFrom(...units, ...nonCharacters), maxLength: 12 })

test('a client cannot write a reserved token, and its text comes through unchanged', () => {
  fc.assert(
    fc.property(clientText, (content) => {
      const pieces = tokens.split(`<|start|>${tokens.protect(content)}<|end|>`)
      assert.deepEqual(idsOf(pieces), [1, 2])
      assert.equal(textOf(pieces), content)
      assert.equal(tokens.plain(tokens.protect(content)), content)
    }),
  )
})

test('no piece of text holds a whole reserved token, for a tokenizer may read one in it', () => {
  fc.assert(
    fc.property(clientText, (content) => {
      for (const piece of tokens.split(tokens.protect(content))) {
        for (const { text, isReserved } of special) {
          assert.ok(!isReserved || piece.kind !== 'text' || !piece.text.includes(text), JSON.stringify(piece))
        }
      }
    }),
  )
})

test('a template that cuts, trims and joins clients’ texts makes no reserved token of them', () => {
  const parts = fc.tuple(clientText, clientText, fc.nat(12), fc.constantFrom('', '<|', '[', '<', '<|sta'))
  fc.assert(
    fc.property(parts, ([first, second, cut, before]) => {
      const [one, two] = [tokens.protect(first), tokens.protect(second)]
      for (const rendered of [
        one + two,
        one.slice(cut) + two,
        one.trim() + two.toLowerCase(),
        before + one.slice(cut),
      ]) {
        const isOfEither = [`${first}${second}`, `${first.trim()}${second.toLowerCase()}`].some((text) =>
          text.includes('EOD'),
        )
        if (!isOfEither) assert.deepEqual(idsOf(tokens.split(rendered)), [])
      }
    }),
  )
})

test('a name between a template’s own brackets completes no token', () => {
  for (const name of ['a', 'A', ' a\n', '|start|', '|end|']) {
    const rendered = `<${tokens.protect(name)}>`
    assert.deepEqual(idsOf(tokens.split(rendered)), [], name)
    assert.equal(textOf(tokens.split(rendered)), `<${name}>`)
    assert.deepEqual(idsOf(tokens.split(`<${tokens.protect(name).trim().toLowerCase()}>`)), [], name)
  }
})

test('reserved tokens that overlap in a client’s text are all broken', () => {
  const text = '<|start|>[a.b]'
  assert.deepEqual(idsOf(tokens.split(tokens.protect(text))), [])
  assert.equal(textOf(tokens.split(tokens.protect(text))), text)
})

test('protecting leaves a text without the characters of tokens as it is', () => {
  const harmless = 'def f(x): return {"type": "object", "path": "/tmp/a.b-c_d"} # 100 % \'ok\''
  assert.equal(tokens.protect(harmless), harmless)
  assert.equal(tokens.protect('a < b').length, 'a < b'.length)
})

test('a template that writes JSON in ASCII alone gives each text back', () => {
  const ascii = createControlTokens(special, '<|start|>{{ x | tojson(ensure_ascii=True) }}')
  const write = (text: string) =>
    JSON.stringify(text).replace(/[\x7f-\uffff]/g, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...units), maxLength: 12 }), (content) => {
      assert.equal(textOf(ascii.split(write(ascii.protect(content)))), write(content))
      assert.equal(textOf(ascii.split(ascii.protect(content))), content)
    }),
  )
})

test('a special token without a meaning of its own is a client’s to write', () => {
  assert.deepEqual(tokens.split(tokens.protect('a<table>')), [
    { kind: 'text', text: 'a' },
    { kind: 'special', token: 5 },
  ])
})

test('the longest token wins and special characters are literal', () => {
  assert.deepEqual(tokens.split('x<|end|><|end|>[a.b][aXb]'), [
    { kind: 'text', text: 'x' },
    { kind: 'special', token: 3 },
    { kind: 'special', token: 4 },
    { kind: 'text', text: '[aXb]' },
  ])
})

test('a token that a vocabulary writes with U+2581 is cut where it is spelled with a space', () => {
  const spaced = createControlTokens([{ text: '\u2581<PRE>', token: 1, isReserved: true }], '')
  for (const text of ['\u2581<PRE>', 'a <PRE>', '<PRE>']) {
    const pieces = spaced.split(spaced.protect(text))
    assert.deepEqual([idsOf(pieces), textOf(pieces)], [[], text])
    assert.ok(pieces.length > 1, text)
  }
})

test('more tokens than there are stand-ins for their edges are kept out all the same', () => {
  const edges = Array.from({ length: 60 }, (_, index) => String.fromCodePoint(0x2500 + index))
  const many = edges.map((edge, token) => ({ text: `${edge}x${token}${edge}`, token, isReserved: true }))
  const crowded = createControlTokens(many, '')
  const all = many.map(({ text }) => text).join('')
  assert.deepEqual(idsOf(crowded.split(crowded.protect(all))), [])
  assert.equal(textOf(crowded.split(crowded.protect(all))), all)
  assert.equal(idsOf(crowded.split(all)).length, 60)
})

test('a vocabulary without special tokens leaves everything text', () => {
  const none = createControlTokens([], '')
  assert.equal(none.protect('<|start|>'), '<|start|>')
  assert.deepEqual(none.split('a<|start|>'), [{ kind: 'text', text: 'a<|start|>' }])
})
