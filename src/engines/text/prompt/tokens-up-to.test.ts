import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { tokensUpTo } from './tokens-up-to.ts'

/** A vocabulary in which a token is the place of its text in a list. */
function partsOf(...parts: readonly (readonly string[])[]) {
  const texts = [...new Set(parts.flat())]
  const bytesOf = (token: number) => Buffer.from(texts[token] ?? '')
  return {
    parts: parts.map((tokens) => ({
      text: tokens.join('').trimStart(),
      tokens: Uint32Array.from(tokens, (text) => texts.indexOf(text)),
    })),
    vocabulary: { bytesOf },
  }
}

test('a token counts before a place if it ends there or earlier', () => {
  const { parts, vocabulary } = partsOf(['Hello', ' wor', 'ld'], ['Ünï', '漢', '!'])
  deepEqual(tokensUpTo(parts, [0, 5, 7, 9, 11, 14, 15, 16, 99], vocabulary), [
    { whole: 0, begun: 0 },
    { whole: 1, begun: 1 },
    { whole: 1, begun: 2 },
    { whole: 2, begun: 2 },
    { whole: 3, begun: 3 },
    { whole: 4, begun: 4 },
    { whole: 5, begun: 5 },
    { whole: 6, begun: 6 },
    { whole: 6, begun: 6 },
  ])
})

test('a space that the vocabulary puts in front of a text moves no place', () => {
  const { parts, vocabulary } = partsOf([' ab', 'c', 'd'])
  deepEqual(
    tokensUpTo(parts, [0, 1, 2, 3, 4], vocabulary).map(({ whole }) => whole),
    [0, 0, 1, 2, 3],
  )
})

test('ten thousand places in one text are found in one walk', () => {
  let asked = 0
  const text = 'ab'.repeat(10_000)
  const parts = [{ text, tokens: new Uint32Array(10_000) }]
  const bytesOf = () => {
    asked += 1
    return Buffer.from('ab')
  }
  const places = Array.from({ length: 10_000 }, (_, index) => index * 2)
  const found = tokensUpTo(parts, places, { bytesOf })
  deepEqual(
    found.map(({ whole }) => whole),
    places.map((place) => place / 2),
  )
  deepEqual(asked, 10_000)
})
