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
