import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fastCheck from 'fast-check'
import { cutText } from './prompt-tokens.ts'

const longestStretch = (text: string) =>
  Math.max(0, ...Array.from(text.matchAll(/\s+|\S+/gu), ([stretch]) => stretch.length))

const strange = {
  'one letter': 'a'.repeat(100_000),
  spaces: ' '.repeat(100_000),
  'line ends': '\n'.repeat(50_000),
  base64: Buffer.from(Array.from({ length: 90_000 }, (_, index) => (index * 7919) % 256)).toString('base64'),
  emoji: '👩‍👩‍👧‍👦'.repeat(10_000),
  'two long words': `${'x'.repeat(70_000)} ${'y'.repeat(70_000)}`,
}

for (const [name, text] of Object.entries(strange)) {
  test(`no tokenizer is given a stretch that overflows its stack: ${name}`, () => {
    const parts = [...cutText(text)]
    equal(parts.join(''), text)
    ok(parts.every((part) => longestStretch(part) <= 4_096))
    ok(
      parts.every((part) => !/^[\udc00-\udfff]/.test(part)),
      'A character was cut in two.',
    )
  })
}

for (const [name, text] of Object.entries({
  'of three bytes each': '漢'.repeat(10_000_000),
  'of two halves each': '😀'.repeat(9_000_000),
  'before another kind': `${'a'.repeat(20_000_000)}漢`,
})) {
  test(`as many letters without a space as a body may have are cut: ${name}`, () => {
    let cut = 0
    for (const part of cutText(text)) {
      ok(text.startsWith(part, cut))
      cut += part.length
    }
    equal(cut, text.length)
  })
}

test('ordinary text is cut between words alone', () => {
  const parts = [...cutText('Some words, and a number like 12.5; a line\n\nand so on. '.repeat(5_000))]
  ok(parts.length > 1)
  for (const part of parts.slice(1)) ok(/^ \p{L}/u.test(part), JSON.stringify(part.slice(0, 10)))
})

test('a short text stays whole', () => {
  deepEqual([...cutText('Hello world')], ['Hello world'])
  deepEqual([...cutText('')], [''])
})

test('every text is the same put together again, and its parts are bounded', () => {
  const piece = fastCheck.oneof(
    fastCheck.string({ unit: 'grapheme', maxLength: 20 }),
    fastCheck
      .tuple(fastCheck.constantFrom('a', ' ', '\n', '1', '/', '漢', '😀'), fastCheck.integer({ min: 1, max: 9_000 }))
      .map(([unit, times]) => unit.repeat(times)),
  )
  fastCheck.assert(
    fastCheck.property(fastCheck.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      const parts = [...cutText(text)]
      equal(parts.join(''), text)
      ok(parts.every((part) => part.length <= 70_000 && longestStretch(part) <= 4_096))
    }),
    { numRuns: 200, seed: 17 },
  )
})
