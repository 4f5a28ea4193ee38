import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { TokenLogprob } from '../../../core/generation.ts'
import { LogprobAligner, type AlignedText, TokenTextDecoder } from './token-text.ts'

const token = (bytes: Uint8Array): TokenLogprob => ({ bytes, logprob: -1, top: [] })
const bytesOf = (pieces: readonly AlignedText[]) =>
  Buffer.concat(pieces.flatMap(({ logprobs }) => logprobs.map(({ bytes }) => bytes))).toString()
const textOf = (pieces: readonly AlignedText[]) => pieces.map(({ text }) => text).join('')

/** Cuts the bytes of a text anywhere, inside characters too. */
const cutText = fc
  .tuple(fc.string({ unit: fc.constantFrom('a', ' b', 'é', '漢', '😀'), maxLength: 20 }), fc.array(fc.nat(60)))
  .map(([text, cuts]) => {
    const bytes = Buffer.from(text)
    const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].toSorted(
      (a, b) => a - b,
    )
    return { text, tokens: places.slice(1).map((end, index) => bytes.subarray(places[index], end)) }
  })

test('the bytes of the tokens are the text, however it is cut into tokens and held back', () => {
  fc.assert(
    fc.property(cutText, fc.nat(8), ({ text, tokens }, lag) => {
      const aligner = new LogprobAligner()
      const decoder = new TokenTextDecoder()
      const pieces: AlignedText[] = []
      let held = ''
      for (const bytes of tokens) {
        const decoded = decoder.decode(bytes, token(bytes))
        for (const part of decoded.tokens) aligner.push(part)
        held += decoded.text
        // What a stop sequence may hold back arrives later than its tokens.
        const shown = [...held].slice(0, -lag || undefined).join('')
        held = held.slice(shown.length)
        const piece = aligner.show(shown)
        if (piece !== null) pieces.push(piece)
      }
      const shownSoFar = text.slice(0, text.length - held.length)
      const rest = aligner.flush()
      if (rest !== null) pieces.push(rest)
      assert.equal(textOf(pieces), shownSoFar)
      assert.equal(bytesOf(pieces), shownSoFar)
    }),
  )
})

test('a token of which a part was shown is cut to that part', () => {
  const aligner = new LogprobAligner()
  aligner.push(token(Buffer.from('one STOP')))
  assert.equal(aligner.show('one '), null)
  const piece = aligner.flush()
  assert.deepEqual([piece?.text, bytesOf(piece === null ? [] : [piece])], ['one ', 'one '])
})

test('skipped bytes belong to no token', () => {
  const aligner = new LogprobAligner()
  for (const text of ['\n\n', ' Yes', '!']) aligner.push(token(Buffer.from(text)))
  aligner.discard(3)
  const piece = aligner.show('Yes!')
  assert.deepEqual(
    piece?.logprobs.map(({ bytes }) => Buffer.from(bytes).toString()),
    ['Yes', '!'],
  )
})

test('bytes that are no text count as what is shown for them', () => {
  const decoder = new TokenTextDecoder()
  const bytes = Uint8Array.of(0xff, 0x61)
  const decoded = decoder.decode(bytes, token(bytes))
  assert.equal(decoded.text, '\ufffda')
  assert.equal(Buffer.concat(decoded.tokens.map((part) => part.bytes)).toString(), '\ufffda')
})
