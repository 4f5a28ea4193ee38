import { deepEqual, equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { readPieces } from '../../test/templates/read.ts'
import { renderWith } from '../../test/templates/render.ts'
import { createThinkingSplitter } from './thinking-splitter.ts'
import { deriveToolFormat } from './tool-format/derive-tool-format.ts'
import { bareKeys } from './known/bare-keys.ts'
import { harmony } from './known/harmony.ts'
import { pythonicCalls } from './known/pythonic-calls.ts'

const templates = join(import.meta.dirname, '../../test/fixtures/templates')
const derived = (name: string) => deriveToolFormat(renderWith(readFileSync(join(templates, `${name}.jinja`), 'utf8')))!
const formats = {
  envelope: derived('json-envelope'),
  marked: derived('marked-text'),
  tagged: derived('tagged'),
  'bare keys': bareKeys.usual,
  harmony: harmony.usual,
  pythonic: pythonicCalls.usual,
}
const tags = { open: '<think>', close: '</think>' }

function split(pieces: readonly string[], startsInside: boolean) {
  const splitter = createThinkingSplitter(tags, startsInside)
  const parts = [...pieces.flatMap((piece) => splitter.feed(piece)), ...splitter.close()]
  const join = (kind: string) => parts.flatMap((part) => (part.kind === kind ? [part.text] : [])).join('')
  return { thinking: join('thinking'), text: join('text') }
}

// An answer of nothing but white space that is gone through again with each token takes many minutes here.
const piece = ' '.repeat(16)
const pieces = Array.from({ length: 200_000 }, () => piece)
const whole = piece.repeat(pieces.length)

test('an answer of nothing but white space is gone through once', () => {
  for (const [name, format] of Object.entries(formats)) equal(readPieces(format, pieces).text, whole, name)
  equal(readPieces(formats.envelope, ['a', ...pieces, 'b']).text, `a${whole}b`)
})

test('thinking of nothing but white space is gone through once', () => {
  deepEqual(split(pieces, true), { thinking: '', text: '' })
  deepEqual(split(pieces, false), { thinking: '', text: whole })
  deepEqual(split(['a', ...pieces, 'b', '</think>', 'c'], true), { thinking: `a${whole}b`, text: 'c' })
})

test('what is read of an answer with long white space does not depend on how it is cut', () => {
  const calls = {
    envelope: '<call>{"tool":"get_weather","input":{"place":"_x_"}}</call>',
    tagged: '<run tool="get_weather">_<set name="place">_x_</set>_</run>',
  }
  const space = fc.string({ unit: fc.constantFrom(' ', '\n', '\t'), minLength: 500, maxLength: 1_200 })
  const lengths = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1 })
  fc.assert(
    fc.property(space, lengths, fc.constantFrom('envelope', 'tagged'), (long, cuts, name) => {
      const output = `_Hello._${calls[name]}_`.replaceAll('_', long)
      deepEqual(readPieces(formats[name], cut(output, cuts)), readPieces(formats[name], [output]))
      const thought = '_<think>_Hm._Yes._</think>_Hello._'.replaceAll('_', long)
      deepEqual(split(cut(thought, cuts), false), split([thought], false))
    }),
    { numRuns: 50 },
  )
})

/** Pieces of the given lengths, in turn. */
function cut(text: string, lengths: readonly number[]): string[] {
  const cuts: string[] = []
  for (let at = 0; at < text.length;) {
    const length = lengths[cuts.length % lengths.length] ?? 1
    cuts.push(text.slice(at, at + length))
    at += length
  }
  return cuts
}
