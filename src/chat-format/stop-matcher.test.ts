import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createStopMatcher } from './stop-matcher.ts'

function run(pieces: readonly string[], sequences: readonly string[], includesSequence = false) {
  const matcher = createStopMatcher(sequences, includesSequence)
  let shown = ''
  for (const piece of pieces) {
    const { text, matched } = matcher.feed(piece)
    shown += text
    if (matched !== null) return { shown, matched }
  }
  return { shown: shown + matcher.flush(), matched: null }
}

test('text ends before a stop sequence, in however many pieces it arrives', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '😀'), maxLength: 30 })
  const sequences = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n', '😀'), minLength: 1, maxLength: 4 }), {
    maxLength: 3,
  })
  fc.assert(
    fc.property(fc.array(letters, { maxLength: 8 }), sequences, (pieces, stops) => {
      const whole = pieces.join('')
      const first = Math.min(...stops.map((stop) => whole.indexOf(stop)).filter((index) => index >= 0))
      const { shown, matched } = run(pieces, stops)
      if (Number.isFinite(first)) {
        assert.notEqual(matched, null)
        assert.ok(!stops.some((stop) => shown.includes(stop)))
        assert.ok(whole.startsWith(shown + matched))
      } else assert.deepEqual({ shown, matched }, { shown: whole, matched: null })
    }),
  )
})

test('text that may become a stop sequence is held back, and given out when it does not', () => {
  const matcher = createStopMatcher(['END'], false)
  assert.deepEqual(matcher.feed('the E'), { text: 'the ', matched: null })
  assert.deepEqual(matcher.feed('N'), { text: '', matched: null })
  assert.deepEqual(matcher.feed('d'), { text: 'ENd', matched: null })
})

test('a stop sequence is shown where the request asks for it', () => {
  assert.deepEqual(run(['a EN', 'D b'], ['END'], true), { shown: 'a END', matched: 'END' })
})

test('the longest of several stop sequences that begin at one place is named', () => {
  assert.equal(run(['x stop now'], ['stop', 'stop now']).matched, 'stop now')
})

/** What is shown and held of a text, by trying every sequence at every place. */
function plainly(held: string, sequences: readonly string[]) {
  const matches = sequences
    .map((sequence) => ({ sequence, at: held.indexOf(sequence) }))
    .filter(({ at }) => at !== -1)
    .toSorted((one, other) => one.at - other.at || other.sequence.length - one.sequence.length)
  const [first] = matches
  if (first !== undefined) return { text: held.slice(0, first.at), matched: first.sequence, held: '' }
  const beginnings = sequences.flatMap((sequence) => Array.from(sequence, (_, length) => sequence.slice(0, length)))
  const open = Math.max(0, ...beginnings.filter((beginning) => held.endsWith(beginning)).map(({ length }) => length))
  return { text: held.slice(0, held.length - open), matched: null, held: held.slice(held.length - open) }
}

test('each piece is matched as if every sequence were tried at every place, after a match and a flush as well', () => {
  const unit = fc.constantFrom('a', 'b', 'c')
  const pieces = fc.array(fc.option(fc.string({ unit, maxLength: 12 }), { freq: 9 }), { maxLength: 12 })
  const sequences = fc.array(fc.string({ unit, minLength: 1, maxLength: 9 }), { maxLength: 6 })
  fc.assert(
    fc.property(pieces, sequences, (given, stops) => {
      const matcher = createStopMatcher(stops, false)
      let held = ''
      for (const piece of given) {
        if (piece === null) {
          assert.equal(matcher.flush(), held)
          held = ''
          continue
        }
        const expected = plainly(held + piece, stops)
        held = expected.held
        assert.deepEqual(matcher.feed(piece), { text: expected.text, matched: expected.matched })
      }
    }),
    { numRuns: 1_000 },
  )
})

// Trying every beginning of every sequence with each piece takes many minutes here.
test('long sequences whose beginnings come again and again cost a character no more than others', () => {
  const sequences = Array.from({ length: 16 }, (_, number) => `${'a'.repeat(1_000)}${number}`)
  const matcher = createStopMatcher(sequences, false)
  let text = ''
  let shown = ''
  for (let number = 0; number < 200_000; number++) {
    const piece = number % 130 === 129 ? 'b' : 'aaaaaaaa'
    text += piece
    shown += matcher.feed(piece).text
  }
  assert.equal(shown + matcher.flush(), text)
})
