import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPrintable } from './is-printable.ts'

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

test('no character that turns the direction of writing around is printable', () => {
  for (const code of [0x061c, 0x200e, 0x200f, ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)]) {
    assert.equal(isPrintable(`invoice${String.fromCodePoint(code)}fdp.exe`), false, code.toString(16))
  }
})

test('no control character and no invisible one is printable', () => {
  const controls = [...range(0, 0x1f), ...range(0x7f, 0x9f)]
  const invisible = [0xad, 0x34f, 0x115f, 0x1160, 0x17b4, 0x180e, 0x200b, 0x2028, 0x2029, 0x2060, 0x2064, 0x206a]
  const more = [0x2800, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xfffc + 1, 0xffff, 0x1d173, 0xe0041, 0xe0100]
  for (const code of [...controls, ...invisible, ...more]) {
    assert.equal(isPrintable(`a${String.fromCodePoint(code)}b`), false, code.toString(16))
  }
})

test('half a surrogate pair is not printable', () => {
  for (const half of ['\ud800', '\udfff', 'a\udc00b\ud800']) assert.equal(isPrintable(half), false)
})

test('a joiner between letters that need none is not printable', () => {
  for (const joiner of ['\u200c', '\u200d']) {
    for (const text of [`ad${joiner}min`, `${joiner}admin`, `admin${joiner}`]) assert.equal(isPrintable(text), false)
  }
})

test('names in any script, and emoji, are printable', () => {
  const names = ['Größe ✓', 'Zoë O’Neill', 'プロジェクト　一', '김철수', 'مشروع', 'می\u200cخواهم', 'क्\u200dष', 'שלום']
  const emoji = ['👩🏽\u200d💻', '👨\u200d👩\u200d👧', '❤\ufe0f', '🏳\ufe0f\u200d🌈', '1\ufe0f\u20e3', '🇪🇺']
  for (const text of [...names, ...emoji, 'a\u00a0b', 'é', 'e\u0301', '']) assert.equal(isPrintable(text), true, text)
})
